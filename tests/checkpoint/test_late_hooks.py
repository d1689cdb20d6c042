"""A hook that the client would end stops reading, says so, and the next one reads on."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest

from holdfast.checkpoint import index
from holdfast.checkpoint.verify import verify
from holdfast.record import storage
from holdfast.session import take_checkpoint
from holdfast.window.state import State
from holdfast.wire import places
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("X1", "C12")
NOW_MS = 1_780_000_000_000


def late_after(entries: int) -> Callable[[], bool]:
    asked = count()
    return lambda: next(asked) >= entries


def state_of(folder: Path, prompts: int = 40) -> State:
    session = Session()
    for number in range(prompts):
        session.user(f"Paint buoy {number} red.").says(f"Buoy {number} is red.")
    return State(
        session_id="s1", transcript=str(session.written(folder)), project=str(folder / "p")
    )


def test_a_checkpoint_that_was_not_read_to_its_end_says_so_and_is_not_verified(
    tmp_path: Path,
) -> None:
    state = state_of(tmp_path)
    kept = take_checkpoint.take(state, places.window("s1"), "auto", NOW_MS, is_late=late_after(20))
    assert kept is not None
    text = Path(kept.path).read_text()
    assert "verified: false" in text and "KB of the transcript are not read yet" in text
    report = verify(kept.path)
    assert not report.ok and "not read to its end" in report.findings[0].words
    assert not index.from_file(kept.path).verified


def test_the_next_save_reads_on_and_is_verified(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    folder = places.window("s1")
    take_checkpoint.take(state, folder, "auto", NOW_MS, is_late=late_after(20))
    kept = take_checkpoint.take(state, folder, "auto", NOW_MS + 1000)
    assert kept is not None and not kept.reused and verify(kept.path).ok
    assert "Paint buoy 39 red." in Path(kept.path).read_text()


def test_hooks_that_are_late_read_a_session_in_parts_and_know_the_same_of_it(
    tmp_path: Path,
) -> None:
    state = state_of(tmp_path)
    parts = 1
    while (found := storage.read_on(state, places.window("s1"), late_after(9))).unread:
        parts += 1
        assert parts < 20
    at_once = storage.read_on(state, places.window("s2"))
    assert parts > 5
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(at_once)

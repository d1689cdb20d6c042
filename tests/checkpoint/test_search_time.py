"""If texts take too long to search for secrets, the checkpoint is saved without them. The clock of
these tests counts how often it is asked, because a time says more about the machine."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.events import take_checkpoint
from holdfast.events.dispatch import SEARCH_SECONDS, STORIES
from holdfast.record import storage
from holdfast.redact import find, redact
from holdfast.redact.find import UNSEARCHED
from holdfast.setup.wiring import TIMEOUTS
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.wire.search_time import SearchTime
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("X4")
NOW_MS = 1_780_000_000_000
RULE = "Rule: run make test before each commit."
WORD = "Xk9fQ2m" + "Lp7RtZ"
LAST = "tideglass"


def counted(ticks: int) -> SearchTime:
    return SearchTime(ticks, clock=count().__next__)


def saved(folder: Path, search: SearchTime, prompts: int) -> str:
    """Return everything that is stored of a session full of bait."""
    session = Session().user(RULE)
    for number in range(prompts):  # a text that another test searched would take no time
        bait = f"{folder.name} {'password= ' * 400}"
        session.user(f"{number} {LAST} {bait} password={WORD} ok {WORD}")
    window = places.window("s1")
    state = State(session_id="s1", transcript=str(session.written(folder)), project=str(folder))
    with search:
        kept = take_checkpoint.take(state, window, "auto", NOW_MS)
    assert kept is not None and verify(kept.path).document is not None
    assert not places.read_small(f"{window}/record.json", 32 << 20), "it is not whole"
    return Path(kept.path).read_text(encoding="utf-8")


def test_what_was_read_in_time_is_saved_and_a_placeholder_stands_for_the_rest(
    tmp_path: Path,
) -> None:
    stored = saved(tmp_path, counted(50_000), prompts=40)
    assert RULE in stored and UNSEARCHED in stored
    assert f"0 {LAST}" in stored and f"39 {LAST}" not in stored
    assert WORD not in stored


@pytest.mark.parametrize("ticks", [1, 5_000, 25_000])
def test_however_early_the_time_is_used_up_a_verified_checkpoint_is_saved(
    ticks: int, tmp_path: Path
) -> None:
    stored = saved(tmp_path, counted(ticks), prompts=20)
    assert UNSEARCHED in stored
    assert WORD not in stored


def test_a_search_is_given_up_in_the_middle_of_a_text() -> None:
    text = "password= " * 10_000
    clock = count()
    with SearchTime(100, clock=clock.__next__):
        assert redact(text) == redact(redact(text)) == f"[redacted: {UNSEARCHED}]"
    assert next(clock) < 200
    assert find(text) == []


def test_every_hook_searches_for_less_than_half_of_its_time() -> None:
    assert set(SEARCH_SECONDS) == set(STORIES)
    assert all(2 * seconds < TIMEOUTS[event] for event, seconds in SEARCH_SECONDS.items())


def test_what_there_was_no_time_for_is_read_by_the_next_hook(tmp_path: Path) -> None:
    session = Session().user(RULE)
    for number in range(10):
        session.user(f"{number} {LAST} {'password= ' * 400}")
    state = State(session_id="s1", transcript=str(session.written(tmp_path)), project="")
    with counted(10_000):
        partly = storage.read_on(state, places.window("s1"))
    assert not any(turn.asked.startswith(f"9 {LAST}") for turn in partly.turns)
    whole = storage.read_on(state, places.window("s1"))
    assert len(whole.turns) == 11 and whole.turns[-1].asked.startswith(f"9 {LAST}")
    assert not whole.lost

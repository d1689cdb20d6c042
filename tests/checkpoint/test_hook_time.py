"""If texts take too long to search for secrets, the checkpoint is saved without them. The clock of
these tests counts how often it is asked, because a time says more about the machine."""

from __future__ import annotations

from itertools import count, takewhile
from pathlib import Path

import msgspec
import pytest

from holdfast.checkpoint.verify import verify
from holdfast.events import take_checkpoint
from holdfast.events.dispatch import SEARCH_SECONDS, STORIES
from holdfast.record import storage
from holdfast.record.secrets import ToldSecrets
from holdfast.redact import find, redact
from holdfast.redact.find import UNSEARCHED
from holdfast.setup.wiring import TIMEOUTS
from holdfast.window.state import State
from holdfast.wire import hook_time, places
from holdfast.wire.hook_time import HookTime
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("X4")
NOW_MS = 1_780_000_000_000
RULE = "Rule: run make test before each commit."
WORD = "Xk9fQ2m" + "Lp7RtZ"
LAST = "tideglass"


def counted(ticks: int) -> HookTime:
    return HookTime(ticks, clock=count().__next__)


def baited(folder: Path, prompts: int) -> Session:
    """A session full of bait. A text that another test searched would take no time."""
    session = Session().user(RULE)
    for number in range(prompts):
        bait = f"{folder.name} {'password= ' * 400}"
        session.user(f"{number} {LAST} {bait} password={WORD} ok {WORD}")
    return session


def saved(folder: Path, search: HookTime, prompts: int) -> str:
    """Return everything that a checkpoint of such a session stores."""
    transcript = baited(folder, prompts).written(folder)
    state = State(session_id="s1", transcript=str(transcript), project=str(folder))
    with search:
        kept = take_checkpoint.take(state, places.window("s1"), "auto", NOW_MS)
    assert kept is not None and verify(kept.path).document is not None
    assert WORD.encode() not in places.read_small(f"{places.window('s1')}/record.json", 32 << 20)
    return Path(kept.path).read_text(encoding="utf-8")


@pytest.mark.requirement("B11", "C12")
def test_the_first_and_the_newest_words_are_saved_and_a_placeholder_stands_for_the_rest(
    tmp_path: Path,
) -> None:
    stored = saved(tmp_path, counted(200_000), prompts=100)
    assert RULE in stored and UNSEARCHED in stored
    assert f"0 {LAST}" in stored and f"99 {LAST}" in stored and f"50 {LAST}" not in stored
    assert "are not read yet, apart from the user's latest prompts" in stored
    assert WORD not in stored


@pytest.mark.parametrize("ticks", [1, 5_000, 25_000])
def test_however_early_the_time_is_used_up_a_verified_checkpoint_is_saved(
    ticks: int, tmp_path: Path
) -> None:
    stored = saved(tmp_path, counted(ticks), prompts=40)
    assert UNSEARCHED in stored
    assert WORD not in stored


def test_a_search_is_given_up_in_the_middle_of_a_text() -> None:
    text = "password= " * 10_000
    clock = count()
    with HookTime(100, clock=clock.__next__):
        assert redact(text) == redact(redact(text)) == f"[redacted: {UNSEARCHED}]"
    assert next(clock) < 200
    assert find(text) == []


def test_reading_stops_by_the_clock_however_little_was_searched() -> None:
    """Lines without words of the user are not searched, and take time all the same."""
    clock = count()
    with HookTime(10, clock=clock.__next__):
        reads = list(takewhile(lambda _: hook_time.may_read(), range(100)))
        assert 0 < len(reads) < 10
        assert not hook_time.is_late()
        assert any(hook_time.is_late() for _ in range(5))


def test_every_hook_searches_for_less_than_half_of_its_time() -> None:
    assert set(SEARCH_SECONDS) == set(STORIES)
    assert all(2 * seconds < TIMEOUTS[event] for event, seconds in SEARCH_SECONDS.items())


@pytest.mark.slow  # a session is read in ten parts, and again at once
def test_hooks_with_little_time_read_a_session_to_its_end_and_know_the_same_of_it(
    tmp_path: Path,
) -> None:
    """Each goes on where the last one stopped. To begin again would never come to an end."""
    transcript = baited(tmp_path, prompts=40).written(tmp_path)
    state = State(session_id="s1", transcript=str(transcript), project="")
    hooks = 0
    while True:
        hooks += 1
        with counted(150_000):
            found = storage.read_on(state, places.window("s1"))
        if not found.unread:
            break
        assert found.turns[-1].asked.startswith(f"39 {LAST}"), "the newest words are shown at once"
        assert hooks < 20
    at_once = storage.read_on(state, places.window("s2"))
    assert hooks > 2
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(at_once)


@pytest.mark.parametrize("written", ["{}", r"{}\u00e9", r"{}\u00c9"])
def test_a_secret_is_known_again_however_its_letters_are_written(
    written: str, tmp_path: Path
) -> None:
    transcript = Session().user(f"The database has password={WORD}, keep it.").written(tmp_path)
    data = transcript.read_bytes().replace(WORD.encode(), written.format(WORD).encode())
    transcript.write_bytes(data)
    state = State(session_id="s1", transcript=str(transcript), project="")
    assert all(place < 0 for place in storage.read_on(state, places.window("s1")).told)


def test_a_secret_that_was_named_before_is_known_again_without_a_search(tmp_path: Path) -> None:
    session = Session().user(f"The database has password={WORD}, keep it.")
    state = State(session_id="s1", transcript=str(session.written(tmp_path)), project="")
    first = storage.read_on(state, places.window("s1"))
    assert WORD not in str(first.turns) and all(place < 0 for place in first.told)
    session.user(f"Is {WORD} still right?").written(tmp_path)
    with counted(1):
        found = storage.read_on(state, places.window("s1"))
    assert WORD not in str(msgspec.to_builtins(found))
    assert WORD not in str(msgspec.to_builtins(storage.read_on(state, places.window("s1"))))


@pytest.mark.parametrize("first", ["n", "r", "t", "b", "f", "u", "1b", "b"])
def test_no_letter_of_an_escape_is_taken_for_a_part_of_a_secret(first: str, tmp_path: Path) -> None:
    """Half an escape is no JSON: the session could not be read any more."""
    session = Session().user(f"The database has password={first}{WORD}, keep it.")
    session.user(f"Lines:\n{WORD}\nand a tab\t{WORD}, \r{WORD} \b{WORD} \f{WORD} \x1b{WORD}")
    state = State(session_id="s1", transcript=str(session.written(tmp_path)), project="")
    assert len(storage.read_on(state, places.window("s1")).turns) == 2


def test_a_place_that_points_into_another_text_is_passed_over(tmp_path: Path) -> None:
    session = Session().user(f"The database has password={WORD}, keep it.")
    state = State(session_id="s1", transcript=str(session.written(tmp_path)), project="")
    found = storage.read_on(state, places.window("s1"))
    broken = Session().user("The b\u00fcoy " + "\u00fc" * 400)
    known = ToldSecrets()
    known.hear_again(broken.written(tmp_path), [*found.told, -(101 << 16 | 3)])
    assert WORD not in known.bare

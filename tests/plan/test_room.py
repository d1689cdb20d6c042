"""The room a session leaves is never more than can be known."""

from pathlib import Path

import pytest

from holdfast.plan import room
from holdfast.settings import load
from holdfast.window.state import State
from tests.builders import a_prompt, a_transcript, an_answer

NOW = 1


def _room(path: Path, **known: int) -> room.PlanRoom:
    state = State(session_id="s1", transcript=str(path), **known)
    return room.room_of_window(state, "", load.load(), NOW)


@pytest.mark.requirement("P4")
def test_a_session_without_an_answer_has_no_more_room_than_the_smallest_window(
    tmp_path: Path,
) -> None:
    """The client assumes a million tokens of a model nobody has heard of; a plan must not."""
    long = a_prompt("Draw the chart. " * 9_000)  # 144 KB, a seventh of what a window is guessed at
    silent = _room(a_transcript(tmp_path / "t.jsonl", long))
    assert silent.now_tokens == 0.6 * room.UNKNOWN_WINDOW and silent.here
    told = _room(tmp_path / "t.jsonl", stated_window=1_000_000)
    assert told.now_tokens > room.UNKNOWN_WINDOW, "its status line has said so"
    wide = an_answer(30_000, model="claude-opus-5")
    known = _room(a_transcript(tmp_path / "wide.jsonl", wide))
    assert known.now_tokens > room.UNKNOWN_WINDOW

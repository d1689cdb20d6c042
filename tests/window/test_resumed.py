"""A session that goes on after its end is at work, also if the hook of its new start was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.window import state as states
from holdfast.window.windows import is_over
from holdfast.wire import mark
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire, window

pytestmark = pytest.mark.requirement("A3", "X6")


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """A session that has ended, and is resumed: the hook of its start did not live to record it."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    fire("SessionStart", path)
    fire("SessionEnd", path)
    assert is_over(str(window()), states.load(str(window())))
    return path


def test_a_hook_that_is_not_woken_shows_that_the_session_goes_on(ended: Path) -> None:
    before = (window() / "state.json").read_bytes()
    fire("SubagentStart", ended)
    assert (window() / "state.json").read_bytes() == before
    assert not is_over(str(window()), states.load(str(window())))


def test_the_next_hook_that_is_woken_records_that_it_goes_on(ended: Path) -> None:
    mark.arm(str(window()), mark.Mark(above=1))
    fire("PostToolUse", ended)
    assert states.load(str(window())).ended_ms == 0

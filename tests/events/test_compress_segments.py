"""Compressing through the real hook processes: when it happens, who is notified, and who never
waits.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.segment import library
from tests.builders import an_answer
from tests.hot.hooks import fire, to_model, window
from tests.segment.topics import COLOUR, MAIL, TABLE, a_session

EMPTY, FULL = 60_000, 105_000  # of an edge of 167,000


class Live:
    """A session at work: two topics are cold, and each call is one more turn."""

    def __init__(self, folder: Path) -> None:
        self.path = a_session(TABLE, MAIL, COLOUR, steps=16).written(folder)
        self._count = 0

    def call(self, used: int = FULL, **own: Any) -> dict[str, Any]:
        self._count += 1
        line = an_answer(used + self._count, id=f"msg_live_{self._count}")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        os.utime(self.path, (0, 0))
        return fire("PostToolUse", self.path, **own)


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path)


def _log(home: Path) -> str:
    return (home / ".holdfast" / "guard.log").read_text()


@pytest.mark.requirement("R2", "R3")
def test_past_sixty_percent_the_tenth_turn_compresses_what_is_cold(
    live: Live, own_home: Path
) -> None:
    live.call()  # so steep a climb has a word of its own
    said = [live.call() for _ in range(8)]
    assert library.warm() == []
    said += [live.call() for _ in range(6)]  # the mark wakes about then
    assert [one.topic for one in library.warm()] == [TABLE, MAIL]
    assert not any(map(to_model, said))
    assert "Compressed 2 segments" in _log(own_home)
    told = fire("UserPromptSubmit", live.path, prompt="go on")
    assert "Compressed 2 segments" in told["systemMessage"]
    assert "freed" not in told["systemMessage"]


@pytest.mark.requirement("R2", "G5")
def test_a_hook_that_has_a_word_for_the_model_does_not_roll(live: Live) -> None:
    for _ in range(9):
        live.call()
    spoken = live.call(130_000)  # orange
    assert to_model(spoken)
    assert library.warm() == []
    live.call(130_000)
    assert len(library.warm()) == 2


@pytest.mark.requirement("R8")
def test_forced_it_looks_at_the_next_call_however_empty_the_window_is(live: Live) -> None:
    live.call(EMPTY)
    live.call(EMPTY, environ={"FORCE_COMPRESSION_CHECK": "1"})
    assert len(library.warm()) == 2


@pytest.mark.requirement("R8")
@pytest.mark.parametrize("name", ["HOLDFAST_DISABLE", "DISABLE_AUTO_CONTEXT_MANAGER"])
def test_turned_off_nothing_is_rolled(live: Live, name: str) -> None:
    for _ in range(3):
        assert live.call(environ={name: "1", "FORCE_COMPRESSION_CHECK": "1"}) == {}
    assert library.warm() == []
    assert not window().exists()


@pytest.mark.requirement("R5", "B1", "B2")
def test_what_is_warm_is_named_as_safe_to_drop_and_then_as_recallable(live: Live) -> None:
    live.call()
    live.call(environ={"FORCE_COMPRESSION_CHECK": "1"})
    [first, second] = library.warm()
    steered = fire("PreCompact", live.path, trigger="auto")["steers"]
    assert "Archived; the summary may leave these out, except the user's own words:" in steered
    assert f"- {TABLE[:88]}" in steered
    assert "(reader.py)" in steered
    assert len(steered) <= 2_000
    given = to_model(fire("SessionStart", live.path, source="compact"))
    for one in (first, second):
        assert one.segment_id in given
    assert "`expand` prints one by its id" in given


@pytest.mark.requirement("R5", "X7")
@pytest.mark.parametrize("broken", ["{", "[]", '{"version": 1}', '{"version": 9, "compressed": 3}'])
def test_a_queue_that_cannot_be_read_holds_up_no_compaction(live: Live, broken: str) -> None:
    live.call()
    live.call(environ={"FORCE_COMPRESSION_CHECK": "1"})
    path = window().parents[2] / "segments" / "queue" / "s1_pending.json"
    path.write_text(broken)
    steered = fire("PreCompact", live.path, trigger="auto")["steers"]
    assert "Keep these" in steered
    assert "archived" not in steered


@pytest.mark.requirement("X1")
def test_rolling_that_fails_is_logged_and_the_hook_is_silent(live: Live, own_home: Path) -> None:
    live.call()
    (own_home / ".holdfast" / "segments").write_text("in the way")
    assert live.call(environ={"FORCE_COMPRESSION_CHECK": "1"}) == {}
    assert library.warm() == []

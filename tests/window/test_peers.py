"""Who else is at work, told without reading what is long over."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.hub.row_times import to_iso
from holdfast.settings.load import load
from holdfast.window import health, live_windows
from holdfast.window import state as states
from holdfast.window.live_windows import LIVE_MS, is_over
from holdfast.window.state import State
from holdfast.wire import mark, places
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire, window

NOW_MS = int(time.time() * 1000)


ME = State(session_id="me", project="/p")


def _window(session: str, at_ms: int = NOW_MS, **more: Any) -> Path:
    folder = places.window(session)
    Path(folder).mkdir(parents=True)
    given = {"session_id": session, "project": "/p", "used_tokens": 10, "edge_tokens": 100}
    states.save(folder, State(**{**given, **more}, at_ms=at_ms))
    return Path(folder, "state.json")


def _aged(path: Path) -> None:
    aged = (NOW_MS - LIVE_MS - 60_000) * 1_000_000
    os.utime(path, ns=(aged, aged))


@pytest.mark.requirement("G10")
def test_states_that_were_not_written_for_long_are_not_even_read() -> None:
    _window("near")
    old = _window("old")
    old.write_bytes(b"were it read, the log would say so")
    _aged(old)
    found = live_windows.peers_of(ME, load(), NOW_MS)
    assert [one["session_id"] for one in found] == ["near"]
    assert not Path(places.home(), "guard.log").exists()


@pytest.mark.requirement("G10", "P4")
def test_how_full_another_is_comes_from_its_transcript_while_its_hooks_sleep(
    tmp_path: Path,
) -> None:
    """They note nothing before a mark is crossed, which on a large window takes hours."""
    now = str(to_iso(NOW_MS))
    told = a_transcript(tmp_path / "t.jsonl", a_prompt(), an_answer(100_000, at=now))
    long_ago = NOW_MS - LIVE_MS - 60_000
    asleep = _window(
        *("asleep", long_ago), transcript=str(told), used_tokens=5_000, edge_tokens=100_000
    )
    _aged(asleep)
    told.touch()
    asleep.with_name("spool").touch()
    [one] = live_windows.peers_of(ME, load(), NOW_MS)
    assert one["used_tokens"] == pytest.approx(100_000, abs=500)
    assert one["room_tokens"] == 167_000 - one["used_tokens"]
    assert one["zone"] == "yellow"


@pytest.mark.requirement("G10")
def test_each_says_whether_a_task_fits_as_far_as_anything_is_known() -> None:
    _window("a", used_tokens=90_000, edge_tokens=100_000, velocity=2_500.0)
    _window("b", used_tokens=20_000, edge_tokens=100_000)
    _window("c", used_tokens=10, edge_tokens=0)
    found = {one["session_id"]: one for one in live_windows.peers_of(ME, load(), NOW_MS, 50_000)}
    assert [found[name]["fits"] for name in "abc"] == [False, True, None]
    assert [found[name]["room_tokens"] for name in "abc"] == [10_000, 80_000, None]
    assert "fits" not in live_windows.peers_of(ME, load(), NOW_MS)[0]


@pytest.mark.requirement("A5", "G10")
@pytest.mark.parametrize(
    ("used", "saved", "is_wanted"),
    [(59, 0, False), (60, 0, True), (90, 59, True), (90, 60, False), (30, 90, False)],
)
def test_a_full_window_wants_a_checkpoint_until_one_was_kept(
    used: int, saved: int, is_wanted: bool
) -> None:
    wanted = health.recommend_action(used, 100, saved, 0.60)
    assert wanted == ("trigger_checkpoint" if is_wanted else "none")
    assert health.judge_status(used / 100, 0.60) == ("context_high" if used >= 60 else "ok")


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """A session that has ended, and is resumed: the hook of its start did not live to record it."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    fire("SessionStart", path)
    fire("SessionEnd", path)
    assert is_over(str(window()), states.load(str(window())))
    return path


@pytest.mark.requirement("A3", "X6")
def test_a_hook_that_is_not_woken_shows_that_the_session_goes_on(ended: Path) -> None:
    before = (window() / "state.json").read_bytes()
    fire("SubagentStart", ended)
    assert (window() / "state.json").read_bytes() == before
    assert not is_over(str(window()), states.load(str(window())))


@pytest.mark.requirement("A3", "X6")
def test_the_next_hook_that_is_woken_records_that_it_goes_on(ended: Path) -> None:
    mark.arm(str(window()), mark.Mark(above=1))
    fire("PostToolUse", ended)
    assert states.load(str(window())).ended_ms == 0

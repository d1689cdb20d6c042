"""The monitor: every fifth call past a fill, and after half an hour of work."""

from __future__ import annotations

import pytest

from holdfast.settings import load as settings_load
from holdfast.window import guard
from holdfast.window.state import State
from holdfast.wire.spool import SHORTEST_LINE, SpoolLine

START = 1_800_000_000_000
SECOND = 1_000


def _calls(count: int, every_s: int = 10) -> list[SpoolLine]:
    return [SpoolLine(START + i * every_s * SECOND, "PostToolUse", 1) for i in range(1, count + 1)]


def _due(state: State, ratio: float, lines: list[SpoolLine], **environ: str) -> bool:
    return guard.monitor_due(state, ratio, lines, settings_load.load(environ=environ))


@pytest.mark.requirement("G6")
def test_past_eighty_percent_every_fifth_call_is_due() -> None:
    state = State(started_ms=START)
    assert [_due(state, 0.81, _calls(n)) for n in range(1, 7)] == [False] * 4 + [True, False]


@pytest.mark.requirement("G6")
def test_below_the_fill_no_call_is_due() -> None:
    assert not any(_due(State(started_ms=START), 0.80, _calls(n)) for n in range(1, 12))


@pytest.mark.requirement("G6")
def test_at_most_one_in_two_minutes() -> None:
    state = State(started_ms=START, checkpoint_ms=START)
    assert not _due(state, 0.9, _calls(5))
    state = State(started_ms=START, checkpoint_ms=START)
    assert _due(state, 0.9, _calls(5, every_s=24))


@pytest.mark.requirement("G6")
def test_the_older_variables_work() -> None:
    state = State(started_ms=START, checkpoint_ms=START)
    turned = {"CHECK_INTERVAL": "2", "COOLDOWN_SECONDS": "5", "CAPACITY_THRESHOLD": "40"}
    assert _due(state, 0.41, _calls(2), **turned)


@pytest.mark.requirement("G6")
def test_half_an_hour_of_work_is_due_and_pauses_are_not_work() -> None:
    working = _calls(31, every_s=60)
    pausing = _calls(31, every_s=600)
    assert _due(State(started_ms=START), 0.1, working)
    assert not _due(State(started_ms=START), 0.1, pausing)


@pytest.mark.requirement("X2")
def test_the_hook_is_not_woken_before_a_look_can_be_due() -> None:
    settings, lines = settings_load.load(environ={}), _calls(2)
    state = State(started_ms=START)
    assert guard.wake_at_bytes(state, lines, 1_000, settings) == 1_000 + 3 * SHORTEST_LINE
    shortest = SpoolLine(START, "Stop", 0)
    assert len(shortest.render()) >= SHORTEST_LINE

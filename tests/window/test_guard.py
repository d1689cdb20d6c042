"""Zones and alerts: judgements without any disk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.settings import load as settings_load
from holdfast.window import guard
from holdfast.window.guard import Alert, Thresholds, Zone, judge, next_tokens
from holdfast.window.state import State
from holdfast.wire.spool import SHORTEST_LINE, SpoolLine

EDGE = 167_000
THRESHOLDS = Thresholds.of(settings_load.load(environ={}))  # as production reads them


def _at(share: float, totals: tuple[int, ...] = ()) -> tuple[Zone, Alert]:
    verdict = judge(totals, round(share * EDGE), EDGE, THRESHOLDS)
    return verdict.zone, verdict.alert


@pytest.mark.requirement("G1")
@pytest.mark.parametrize(
    ("share", "zone"),
    [
        (0.4999, Zone.GREEN),
        (0.50, Zone.YELLOW),
        (0.75, Zone.ORANGE),
        (0.90, Zone.RED),
    ],
)
def test_zones_are_shares_of_the_edge(share: float, zone: Zone) -> None:
    assert _at(share)[0] is zone


@pytest.mark.requirement("G1")
@pytest.mark.parametrize(
    ("preset", "zones"),
    [
        ("default", (0.50, 0.75, 0.90)),
        ("conservative", (0.40, 0.65, 0.80)),
    ],
)
def test_presets_move_the_zones(preset: str, zones: tuple[float, float, float]) -> None:
    settings = settings_load.load(environ={"HOLDFAST_PRESET": preset})
    assert Thresholds.of(settings).zones == zones


@pytest.mark.requirement("G2")
@pytest.mark.parametrize(
    ("left", "alert"),
    [
        (0.31, Alert.NONE),
        (0.30, Alert.WARNING),
        (0.15, Alert.ADVISORY),
        (0.07, Alert.URGENT),
        (0.03, Alert.CRITICAL),
    ],
)
def test_alerts_are_shares_left(left: float, alert: Alert) -> None:
    assert _at(1.0 - left)[1] is alert


@pytest.mark.requirement("G3")
def test_a_fast_climb_is_alerted_one_step_early() -> None:
    step = int(0.06 * EDGE)
    climbing = tuple(120_000 - (3 - i) * step for i in range(4))
    calm = tuple(120_000 - (3 - i) * 100 for i in range(4))
    assert _at(0.72, calm)[1] is Alert.WARNING
    assert _at(0.72, climbing)[1] is Alert.ADVISORY


@pytest.mark.requirement("G3")
def test_one_large_result_in_flight_counts_towards_the_climb() -> None:
    totals = [100_000, 100_500, 101_000, 101_500]
    assert judge(totals, 101_500 + int(0.2 * EDGE), EDGE, THRESHOLDS).fast_climb


@pytest.mark.requirement("G4")
@pytest.mark.parametrize(
    ("growth", "left"),
    [(100, 0.16), (int(EDGE * 0.02), 0.20), (int(EDGE * 0.04), 0.40), (12_000, 0.45)],
)
def test_the_warning_follows_ten_times_the_mean_growth(growth: int, left: float) -> None:
    totals = [20_000 + i * growth for i in range(11)]
    verdict = judge(totals, totals[-1], EDGE, THRESHOLDS)
    assert verdict.warning_left == pytest.approx(left, abs=0.001)


@pytest.mark.requirement("G4")
@given(growth=st.integers(0, 40_000), used=st.integers(0, 200_000))
def test_a_warning_always_precedes_the_advisory(growth: int, used: int) -> None:
    totals = [20_000 + i * growth for i in range(11)]
    assert judge(totals, used, EDGE, THRESHOLDS).warning_left > THRESHOLDS.advisory_left


@given(a=st.integers(0, 200_000), b=st.integers(0, 200_000))
def test_a_fuller_window_is_never_a_safer_one(a: int, b: int) -> None:
    low, high = sorted((a, b))
    emptier, fuller = (judge((), used, EDGE, THRESHOLDS) for used in (low, high))
    assert emptier.zone <= fuller.zone
    assert emptier.alert <= fuller.alert


@pytest.mark.requirement("X2")
@given(used=st.integers(0, 166_000), ahead=st.integers(1, 20_000))
def test_below_the_mark_the_verdict_is_the_same(used: int, ahead: int) -> None:
    """What lets the hook sleep: nothing the guard cares about changes before the mark."""
    slow = [used - 100 * i for i in range(11, 0, -1)]
    verdict = judge(slow, used, EDGE, THRESHOLDS)
    mark = next_tokens(verdict, EDGE, THRESHOLDS)
    later = judge(slow, min(used + ahead, max(used, mark - 1)), EDGE, THRESHOLDS)
    assert (later.zone, later.alert) == (verdict.zone, verdict.alert)


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

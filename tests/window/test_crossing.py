"""What is new, what is said, and that it is said once."""

from typing import Any

import pytest

from holdfast.client.compaction_limit import CompactionLimit
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.window import alert_texts
from holdfast.window.audit import FREED, PRESSURE, under_pressure
from holdfast.window.guard import Alert, Crossing, Reading, Zone, cross
from holdfast.window.state import State
from holdfast.window.velocity import Forecast
from tests.builders import a_verdict

NOW = 1_800_000_000_000


@pytest.fixture
def settings() -> Settings:
    return settings_load.load(environ={})


def _cross(state: State, share: float, settings: Settings, at: int = NOW) -> Crossing:
    found = cross(state, a_verdict(share), at, settings)
    if found.checkpoint:
        state.checkpoint_ms = at
    return found


@pytest.mark.requirement("G2")
def test_each_alert_fires_once_per_crossing(settings: Settings) -> None:
    state = State()
    fired = [_cross(state, share / 100, settings).alert for share in range(60, 100)]
    assert [alert for alert in fired if alert] == [
        Alert.WARNING,
        Alert.ADVISORY,
        Alert.URGENT,
        Alert.CRITICAL,
    ]


@pytest.mark.requirement("G2")
def test_an_alert_fires_again_only_after_the_window_was_freed(settings: Settings) -> None:
    state = State()
    assert _cross(state, 0.86, settings).alert is Alert.ADVISORY
    assert _cross(state, 0.845, settings).alert is None  # a corrected estimate
    assert _cross(state, 0.87, settings).alert is None
    assert _cross(state, 0.20, settings).alert is None  # compacted
    assert _cross(state, 0.86, settings).alert is Alert.ADVISORY


@pytest.mark.requirement("G2")
def test_an_advisory_asks_for_a_checkpoint_unless_one_is_fresh(settings: Settings) -> None:
    fresh, stale = (State(checkpoint_ms=NOW - 119_000), State(checkpoint_ms=NOW - 120_000))
    assert _cross(fresh, 0.86, settings).checkpoint == ""
    assert _cross(stale, 0.86, settings).checkpoint == "guard"


@pytest.mark.requirement("G2")
@pytest.mark.parametrize("share", [0.93, 0.97])
def test_urgent_and_critical_ask_regardless(settings: Settings, share: float) -> None:
    state = State(checkpoint_ms=NOW - 1, zone=int(Zone.RED), zone_ratio=0.9)
    assert _cross(state, share, settings).checkpoint == "guard"


@pytest.mark.requirement("G5")
def test_green_is_silent_and_yellow_and_a_warning_are_only_logged(settings: Settings) -> None:
    state = State()
    assert _cross(state, 0.30, settings) == Crossing()
    assert _cross(state, 0.55, settings) == Crossing(zone=Zone.YELLOW)
    warned = _cross(state, 0.72, settings)
    assert warned.alert is Alert.WARNING
    assert not warned.speaks


@pytest.mark.requirement("G5")
@pytest.mark.parametrize(
    ("share", "called"),
    [(0.76, "orange"), (0.86, "advisory"), (0.91, "red"), (0.94, "urgent"), (0.98, "critical")],
)
def test_zone_and_alert_of_one_moment_are_one_message(
    settings: Settings, share: float, called: str
) -> None:
    assert alert_texts.name(_cross(State(), share, settings)) == called


@pytest.mark.slow
@pytest.mark.requirement("G5")
@pytest.mark.parametrize("share", [0.76, 0.86, 0.91, 0.94, 0.98, 3.0])
@pytest.mark.parametrize("kind", ["early", "window", "refusal"])
@pytest.mark.parametrize("estimated", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_a_message_costs_at_most_sixty_tokens(
    settings: Settings, share: float, kind: str, estimated: bool, saved: bool
) -> None:
    edge = 999_999_999  # the longest numbers
    crossing, verdict = _cross(State(), share, settings), a_verdict(share)
    ahead = Forecast(1_234.5, 9_456, 99_999.9, "", None, 9_400, 123_456)
    reading = Reading(int(share * edge), 0, estimated=estimated)
    limit = CompactionLimit(edge, edge, kind, "")
    for text in alert_texts.compose(crossing, verdict, ahead, reading, limit, 12, saved=saved):
        assert len(text) / 3.5 <= 60, text
        assert text.endswith("."), text


@pytest.mark.requirement("G2", "G5")
def test_without_automatic_compaction_nobody_is_told_to_wait_for_it(settings: Settings) -> None:
    to_model, to_user = _told(0.98, settings, kind="refusal")
    assert "ask the user to /compact" in to_model
    assert "automatic compaction is off" in to_user
    for share in (0.76, 0.86, 0.91, 0.94, 0.98):
        assert "utomatic compaction is off" in _told(share, settings, kind="refusal")[1]
        for saved in (True, False):
            told = "".join(_told(share, settings, kind="refusal", saved=saved))
            assert "to compaction" not in told
            assert "by itself" not in told


@pytest.mark.requirement("G5")
@pytest.mark.parametrize("kind", ["early", "window", "refusal"])
@pytest.mark.parametrize("share", [0.86, 0.91, 0.94, 0.98])
def test_what_could_not_be_saved_is_not_called_saved(
    settings: Settings, share: float, kind: str
) -> None:
    to_model, to_user = _told(share, settings, kind=kind, saved=False)
    assert "No checkpoint could be saved; the user is told." in to_model
    assert "run holdfast doctor" in to_user
    assert "Checkpoint saved" not in to_model + to_user


def _told(
    share: float, settings: Settings, *, kind: str = "early", saved: bool = True
) -> tuple[str, str]:
    crossing, ahead = _cross(State(), share, settings), Forecast(None, None, None, "")
    limit = CompactionLimit(1_033_000, 1_000_000, kind, "")
    facts = (crossing, a_verdict(share), ahead, Reading(int(1e6 * share), 0), limit)
    return alert_texts.compose(*facts, saved=saved)


DECISIONS = [(n, {"decision": f"decision {n}", "turn": n}) for n in (5, 15, 25, 35, 45)]


def _alert(at_ms: int, zone: str) -> dict[str, Any]:
    told = {"level": "advisory", "used_ratio": 0.9}
    return {"event": PRESSURE, "at_ms": at_ms, "zone": zone, **told}


@pytest.mark.requirement("G9")
@pytest.mark.parametrize(
    ("events", "under"),
    [
        ([], []),
        ([_alert(10, "yellow")], []),
        ([_alert(10, "orange")], [15, 25, 35, 45]),
        ([_alert(10, "orange"), {"event": FREED, "at_ms": 20}], [15]),
        ([_alert(30, "red"), _alert(10, "orange"), {"event": FREED, "at_ms": 20}], [15, 35, 45]),
        ([_alert(10, "red"), _alert(30, "yellow")], [15, 25]),
        ([_alert(15, "red"), {"event": FREED, "at_ms": "odd"}], [15, 25, 35, 45]),
    ],
)
def test_a_decision_is_under_pressure_from_an_alert_until_the_window_is_freed(
    events: list[dict[str, Any]], under: list[int]
) -> None:
    found = under_pressure(DECISIONS, events)
    assert [one["at_ms"] for one in found] == under
    assert [one["turn"] for one in found] == under
    assert all(one["used_ratio"] == 0.9 for one in found)

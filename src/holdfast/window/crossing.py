"""What is new in a verdict: each zone and alert speaks once, until the window was freed."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.settings.load import Settings
from holdfast.window.guard import Alert, Verdict, Zone
from holdfast.window.state import State

FREED = 0.05  # a reading that fell by so much of the edge was freed; less is a better estimate


@dataclass(frozen=True, slots=True)
class Crossing:
    """The news of one moment; `checkpoint` is the trigger of one that is due, or empty."""

    zone: Zone | None = None
    alert: Alert | None = None
    checkpoint: str = ""

    @property
    def speaks(self) -> bool:
        """A warning and yellow are only logged: the model first hears at orange."""
        return (self.zone or 0) >= Zone.ORANGE or (self.alert or 0) >= Alert.ADVISORY


def cross(
    state: State, verdict: Verdict, now_ms: int, settings: Settings, *, may_free: bool = True
) -> Crossing:
    """Compare with what was already said, note what now is, and name what is due.

    Only a reading the client stated frees a level: a guess that fell is not a freed window.
    """
    if may_free:
        _free(state, verdict)
    zone = verdict.zone if verdict.zone > state.zone else None
    alert = verdict.alert if verdict.alert > state.alert else None
    if zone is not None:
        state.zone, state.zone_ratio = zone, verdict.used_ratio
    if alert is not None:
        state.alert, state.alert_ratio = alert, verdict.used_ratio
    return Crossing(zone, alert, _due(state, zone, alert, now_ms, settings))


def _free(state: State, verdict: Verdict) -> None:
    """Only a real fall takes a level back: a corrected estimate must not make it speak twice."""
    if verdict.zone < state.zone and verdict.used_ratio <= state.zone_ratio - FREED:
        state.zone, state.zone_ratio = verdict.zone, verdict.used_ratio
    if verdict.alert < state.alert and verdict.used_ratio <= state.alert_ratio - FREED:
        state.alert, state.alert_ratio = verdict.alert, verdict.used_ratio
        state.owed = ""


def _due(
    state: State, zone: Zone | None, alert: Alert | None, now_ms: int, settings: Settings
) -> str:
    if (alert or 0) >= Alert.URGENT or zone is Zone.RED:
        return "guard"
    cooled = now_ms - state.checkpoint_ms >= settings.whole("cooldown_seconds") * 1000
    return "guard" if alert is Alert.ADVISORY and cooled else ""

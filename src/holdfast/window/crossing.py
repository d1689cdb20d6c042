"""What is new in a verdict: each zone and alert is reported once, until the window is freed."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.settings.load import Settings
from holdfast.window.guard import Alert, Verdict, Zone
from holdfast.window.state import State

FREED = 0.05  # a fall by this share of the limit means freed; a smaller one is a corrected estimate


@dataclass(frozen=True, slots=True)
class Crossing:
    """What is new now; `checkpoint` is the trigger of a checkpoint that is due, or empty."""

    zone: Zone | None = None
    alert: Alert | None = None
    checkpoint: str = ""

    @property
    def speaks(self) -> bool:
        """Whether the model is told. A warning and yellow are only logged."""
        return (self.zone or 0) >= Zone.ORANGE or (self.alert or 0) >= Alert.ADVISORY


def cross(
    state: State, verdict: Verdict, now_ms: int, settings: Settings, *, may_free: bool = True
) -> Crossing:
    """Compare with what was already said, record the new levels, and name what is due.

    Only a reading that the client stated frees a level: an estimate that fell does not.
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
    """Take a level back after a real fall only: a corrected estimate must not repeat an alert."""
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

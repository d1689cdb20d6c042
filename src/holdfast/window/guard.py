"""The guard: from readings to a zone and an alert, and what is new in that verdict. Each zone and
alert is reported once, until the window is freed. Thresholds come from the settings.

Its monitor takes a checkpoint at every fifth call past a fill, and one per half hour of work; past
a fill it looks for cold segments, every so many turns. Both count lines of the spool.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from holdfast.settings.load import Settings
from holdfast.window.state import State
from holdfast.window.velocity import growths, mean, velocity
from holdfast.wire.mark import NEVER
from holdfast.wire.spool import SHORTEST_LINE, SpoolLine

MEASUREMENTS = 10


class Reading(NamedTuple):
    """`basis`: usage, boundary, compacting, earlier, status-line, bytes, weights or none."""

    used_tokens: int
    at_ms: int
    basis: str = "usage"
    estimated: bool = False


def estimate_mark(estimated: bool) -> str:
    """Return "about " for a reading that is an estimate; it is put before its shares and counts."""
    return "about " if estimated else ""


class Zone(IntEnum):
    GREEN = 0
    YELLOW = 1
    ORANGE = 2
    RED = 3


class Alert(IntEnum):
    NONE = 0
    WARNING = 1
    ADVISORY = 2
    URGENT = 3
    CRITICAL = 4


class Thresholds(NamedTuple):
    """Shares of the compaction limit: zones by what is used, alerts by what is left."""

    zones: tuple[float, float, float]
    warning_left: float
    warning_left_least: float
    warning_left_most: float
    advisory_left: float
    urgent_left: float
    critical_left: float
    fast_climb: float

    @classmethod
    def of(cls, settings: Settings) -> Thresholds:
        share = settings.share
        zones = share("zone_yellow"), share("zone_orange"), share("zone_red")
        return cls(zones, *map(share, cls._fields[1:]))

    def alerts_left(self, warning_left: float) -> tuple[float, float, float, float]:
        return (warning_left, self.advisory_left, self.urgent_left, self.critical_left)


class Verdict(NamedTuple):
    zone: Zone
    alert: Alert
    used_ratio: float
    warning_left: float
    fast_climb: bool


def judge(
    used_tokens: Sequence[int], now_tokens: int, edge_tokens: int, thresholds: Thresholds
) -> Verdict:
    """Place the reading in a zone; a fast climb raises the alert one step early.

    `used_tokens`: one number per finished answer since the window was last freed.
    """
    used_ratio = now_tokens / edge_tokens
    warning_left = adapt_warning(used_tokens, edge_tokens, thresholds)
    alert = _alert_for(used_ratio, thresholds.alerts_left(warning_left))
    rate = velocity(used_tokens, now_tokens) or 0.0
    fast = rate / edge_tokens > thresholds.fast_climb
    if fast:
        alert = Alert(min(alert + 1, Alert.CRITICAL))
    return Verdict(place(used_ratio, thresholds.zones), alert, used_ratio, warning_left, fast)


def adapt_warning(used_tokens: Sequence[int], edge_tokens: int, thresholds: Thresholds) -> float:
    """Ten times the mean growth of the last ten operations: a busy session is warned earlier."""
    steps = growths(used_tokens[-MEASUREMENTS - 1 :])
    if len(steps) < MEASUREMENTS:
        return thresholds.warning_left
    wanted = MEASUREMENTS * mean(steps) / edge_tokens
    return min(max(wanted, thresholds.warning_left_least), thresholds.warning_left_most)


def next_tokens(verdict: Verdict, edge_tokens: int, thresholds: Thresholds) -> int:
    """The token count at which the verdict can be another one: the next threshold up, or one
    fast step, whichever comes first (so that a climb is seen when it begins)."""
    shares = [*thresholds.zones]
    shares += [1.0 - left for left in thresholds.alerts_left(verdict.warning_left)]
    shares.append(verdict.used_ratio + thresholds.fast_climb)
    above = [share for share in shares if _millionths(share) > _millionths(verdict.used_ratio)]
    return max(1, int(min(above, default=1.0) * edge_tokens))


def place(used_ratio: float, zones: Sequence[float]) -> Zone:
    """The zone of a reading; a fuller window is never in a safer one."""
    return Zone(sum(_millionths(used_ratio) >= _millionths(share) for share in zones))


def _alert_for(used_ratio: float, lefts: Sequence[float]) -> Alert:
    return Alert(sum(_millionths(used_ratio) >= _millionths(1.0 - left) for left in lefts))


def _millionths(share: float) -> int:
    """Shares compared in millionths: 1 - 0.15 is 0.85 here, whatever floats say."""
    return round(share * 1_000_000)


FREED = 0.05  # a fall by this share of the limit means freed; a smaller one is a corrected estimate


class Crossing(NamedTuple):
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


IDLE_MS = 5 * 60_000  # a pause longer than this is not work
FORCED = "FORCE_COMPRESSION_CHECK"  # a variable that older tools set, too
LONGEST_TYPICAL = 200
OFF = frozenset(("", "0"))


def monitor_due(
    state: State, used_ratio: float, lines: Sequence[SpoolLine], settings: Settings
) -> bool:
    """Whether a checkpoint is due now. Counting starts again at each look."""
    now_ms = lines[-1].ms if lines else 0
    if active_ms(lines, _since(state)) >= settings.whole("active_minutes") * 60_000:
        return True
    if _calls_since(state, lines) < settings.whole("check_interval"):
        return False
    state.monitor_ms = now_ms
    over = used_ratio * 100 > settings.whole("capacity_threshold")
    cooled = now_ms - state.checkpoint_ms >= settings.whole("cooldown_seconds") * 1000
    return over and cooled


def _calls_since(state: State, lines: Sequence[SpoolLine]) -> int:
    return sum(row.ms > state.monitor_ms and row.event.startswith("PostToolUse") for row in lines)


def active_ms(lines: Sequence[SpoolLine], since_ms: int) -> int:
    """Time between events since then, without pauses."""
    times = [since_ms] if since_ms else []
    times += [line.ms for line in lines if line.ms > since_ms]
    gaps = (after - before for before, after in pairwise(times))
    return sum(gap for gap in gaps if 0 < gap <= IDLE_MS)


def wake_at_ms(state: State, lines: Sequence[SpoolLine], settings: Settings) -> int:
    """The earliest time at which half an hour of work can have passed."""
    now_ms = lines[-1].ms if lines else 0
    left = settings.whole("active_minutes") * 60_000 - active_ms(lines, _since(state))
    return now_ms + max(0, left)


def wake_at_bytes(
    state: State, lines: Sequence[SpoolLine], spool_bytes: int, settings: Settings
) -> int:
    """The length of the spool at which the next look may be due, from the shortest line."""
    missing = settings.whole("check_interval") - _calls_since(state, lines)
    return spool_bytes + max(1, missing) * SHORTEST_LINE


def _since(state: State) -> int:
    return max(state.checkpoint_ms, state.started_ms)


def is_forced() -> bool:
    return os.environ.get(FORCED, "") not in OFF


def compression_due(
    state: State, used_ratio: float, lines: Sequence[SpoolLine], settings: Settings
) -> bool:
    """Whether a look for cold segments is due now; the caller records when it looks. Segments of a
    subagent are not compressed: its window ends with it."""
    if state.agent_id:
        return False
    if is_forced():
        return True
    full = used_ratio >= settings.share("segment_queue_from")
    return full and _turns_since(state, lines) >= settings.whole("segment_check_turns")


def _turns_since(state: State, lines: Sequence[SpoolLine]) -> int:
    new = (line for line in lines if line.ms > state.rolled_ms and line.answer_id)
    return len({line.answer_id for line in new if line.event.startswith("PostToolUse")})


def compression_wake_bytes(
    state: State,
    used_ratio: float,
    lines: Sequence[SpoolLine],
    spool_bytes: int,
    settings: Settings,
) -> int:
    """The likely length of the spool at the next look, from the average line."""
    if state.agent_id or used_ratio < settings.share("segment_queue_from"):
        return NEVER
    missing = settings.whole("segment_check_turns") - _turns_since(state, lines)
    typical = min(LONGEST_TYPICAL, spool_bytes // max(1, len(lines)))
    return spool_bytes + max(1, missing) * max(SHORTEST_LINE, typical)

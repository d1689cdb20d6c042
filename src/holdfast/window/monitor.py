"""The monitor: past a fill, every fifth call a checkpoint; and one per half hour of work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from holdfast.settings.load import Settings
from holdfast.window.state import State
from holdfast.wire.spool import SHORTEST_LINE, Line

IDLE_MS = 5 * 60_000  # a pause longer than this is not work


def due(state: State, used_ratio: float, lines: Sequence[Line], settings: Settings) -> bool:
    """True when a checkpoint is due now; counts start anew at each look."""
    now_ms = lines[-1].ms if lines else 0
    if active_ms(lines, _since(state)) >= settings.whole("active_minutes") * 60_000:
        return True
    if calls_since(state, lines) < settings.whole("check_interval"):
        return False
    state.monitor_ms = now_ms
    over = used_ratio * 100 > settings.whole("capacity_threshold")
    cooled = now_ms - state.checkpoint_ms >= settings.whole("cooldown_seconds") * 1000
    return over and cooled


def calls_since(state: State, lines: Sequence[Line]) -> int:
    return sum(
        line.ms > state.monitor_ms and line.event.startswith("PostToolUse") for line in lines
    )


def active_ms(lines: Sequence[Line], since_ms: int) -> int:
    """Time between events since then, pauses left out."""
    times = [since_ms] if since_ms else []
    times += [line.ms for line in lines if line.ms > since_ms]
    gaps = (after - before for before, after in pairwise(times))
    return sum(gap for gap in gaps if 0 < gap <= IDLE_MS)


def wake_at_ms(state: State, lines: Sequence[Line], settings: Settings) -> int:
    """The earliest time at which half an hour of work can have passed."""
    now_ms = lines[-1].ms if lines else 0
    left = settings.whole("active_minutes") * 60_000 - active_ms(lines, _since(state))
    return now_ms + max(0, left)


def wake_at_bytes(state: State, lines: Sequence[Line], spool_bytes: int, settings: Settings) -> int:
    """How long the spool is when the next look can be due: lines are at least so long."""
    missing = settings.whole("check_interval") - calls_since(state, lines)
    return spool_bytes + max(1, missing) * SHORTEST_LINE


def _since(state: State) -> int:
    return max(state.checkpoint_ms, state.started_ms)

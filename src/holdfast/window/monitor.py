"""When a checkpoint is due, and when to look for cold segments.

Past a fill the monitor takes a checkpoint at every fifth call, and one per half hour of work. Cold
segments are looked for past a fill, every so many turns. Both count lines of the spool.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

from holdfast.settings.load import Settings
from holdfast.window.state import State
from holdfast.wire.mark import NEVER
from holdfast.wire.spool import SHORTEST_LINE, SpoolLine

IDLE_MS = 5 * 60_000  # a pause longer than this is not work
FORCED = "FORCE_COMPRESSION_CHECK"  # a variable that older tools set, too
LONGEST_TYPICAL = 200
OFF = frozenset(("", "0"))


def due(state: State, used_ratio: float, lines: Sequence[SpoolLine], settings: Settings) -> bool:
    """Whether a checkpoint is due now. Counting starts again at each look."""
    now_ms = lines[-1].ms if lines else 0
    if active_ms(lines, _since(state)) >= settings.whole("active_minutes") * 60_000:
        return True
    if calls_since(state, lines) < settings.whole("check_interval"):
        return False
    state.monitor_ms = now_ms
    over = used_ratio * 100 > settings.whole("capacity_threshold")
    cooled = now_ms - state.checkpoint_ms >= settings.whole("cooldown_seconds") * 1000
    return over and cooled


def calls_since(state: State, lines: Sequence[SpoolLine]) -> int:
    return sum(
        line.ms > state.monitor_ms and line.event.startswith("PostToolUse") for line in lines
    )


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
    missing = settings.whole("check_interval") - calls_since(state, lines)
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
    return full and turns_since(state, lines) >= settings.whole("segment_check_turns")


def turns_since(state: State, lines: Sequence[SpoolLine]) -> int:
    return len({line.answer_id for line in lines if line.ms > state.rolled_ms and _is_call(line)})


def compression_wake_bytes(
    state: State,
    used_ratio: float,
    lines: Sequence[SpoolLine],
    spool_bytes: int,
    settings: Settings,
) -> int:
    """The likely length of the spool at the next look, from the average line: a little early or
    late does no harm."""
    if state.agent_id or used_ratio < settings.share("segment_queue_from"):
        return NEVER
    missing = settings.whole("segment_check_turns") - turns_since(state, lines)
    typical = min(LONGEST_TYPICAL, spool_bytes // max(1, len(lines)))
    return spool_bytes + max(1, missing) * max(SHORTEST_LINE, typical)


def _is_call(line: SpoolLine) -> bool:
    return line.event.startswith("PostToolUse") and bool(line.answer_id)

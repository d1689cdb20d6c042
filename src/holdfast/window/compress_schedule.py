"""When to look for cold segments: past a fill, every so many turns; counted in spool lines."""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.settings.load import Settings
from holdfast.window.state import State
from holdfast.wire.mark import NEVER
from holdfast.wire.spool import SHORTEST_LINE, Line

FORCED = "FORCE_COMPRESSION_CHECK"  # 004's
LONGEST_TYPICAL = 200
OFF = frozenset(("", "0"))


def is_forced() -> bool:
    return os.environ.get(FORCED, "") not in OFF


def due(state: State, used_ratio: float, lines: Sequence[Line], settings: Settings) -> bool:
    """True when a look is due now; whoever takes it notes when. Of a subagent nothing is rolled:
    its window ends with it."""
    if state.agent_id:
        return False
    if is_forced():
        return True
    full = used_ratio >= settings.share("segment_queue_from")
    return full and turns_since(state, lines) >= settings.whole("segment_check_turns")


def turns_since(state: State, lines: Sequence[Line]) -> int:
    return len({line.answer_id for line in lines if line.ms > state.rolled_ms and _is_call(line)})


def wake_at_bytes(
    state: State, used_ratio: float, lines: Sequence[Line], spool_bytes: int, settings: Settings
) -> int:
    """How long the spool will be about then: a little early or late does no harm, so by how long
    its lines are, not by how short they could be."""
    if state.agent_id or used_ratio < settings.share("segment_queue_from"):
        return NEVER
    missing = settings.whole("segment_check_turns") - turns_since(state, lines)
    typical = min(LONGEST_TYPICAL, spool_bytes // max(1, len(lines)))
    return spool_bytes + max(1, missing) * max(SHORTEST_LINE, typical)


def _is_call(line: Line) -> bool:
    return line.event.startswith("PostToolUse") and bool(line.answer_id)

"""Make the mark from a verdict: the numbers that hooks compare until the next verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.wire import log, mark, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.settings.load import Settings
    from holdfast.window.guard import Verdict
    from holdfast.window.state import State
    from holdfast.wire.spool import SpoolLine

WAKE_NEXT = 0
UNSAVED = 0.20  # the stop guard objects to more of the limit used since the last checkpoint
OFF, ON, ON_BY_VARIABLE, OFF_BY_VARIABLE = range(4)


def mark_for(
    state: State, verdict: Verdict, lines: Sequence[SpoolLine], spool_bytes: int, settings: Settings
) -> mark.Mark:
    """The mark for the next threshold, step, fall, look of monitor or segments, or half hour."""
    from holdfast.window import guard

    edge = state.edge_tokens
    above = guard.next_tokens(verdict, edge, guard.Thresholds.of(settings))
    watched = settings.whole("capacity_threshold") / 100
    for share in (watched, settings.share("segment_queue_from")):
        if verdict.used_ratio < share:
            above = min(above, int(share * edge) + 1)
    monitored = mark.NEVER
    if verdict.used_ratio >= watched:
        monitored = guard.wake_at_bytes(state, lines, spool_bytes, settings)
    rolled = guard.compression_wake_bytes(state, verdict.used_ratio, lines, spool_bytes, settings)
    made = wake_next(state)
    made.above, made.below = above, max(0, int((verdict.used_ratio - guard.FREED) * edge))
    made.spool_bytes = min(monitored, rolled)
    made.time_ms = guard.wake_at_ms(state, lines, settings)
    return made


def wake_next(state: State) -> mark.Mark:
    """The mark after PreCompact: wake at the very next call."""
    return mark.Mark(
        above=WAKE_NEXT,
        density=state.density or mark.CHARS_PER_TOKEN,
        overhead=state.overhead_tokens,
        owed=owed_to(state),
        stop=stop_at(state),
    )


def put(folder: str, state: State, made: mark.Mark) -> None:
    """Replace the mark. While a message waits, the next call wakes and delivers it; not in a
    subagent, because its hook's output would go to its parent."""
    if places.has_outbox(folder):
        made.owed |= mark.OWED_TO_MODEL
        made.above = made.above if state.agent_id else WAKE_NEXT
    mark.arm(folder, made)


def rouse(folder: str, state: State) -> None:
    """Replace the mark if possible: a failure must not stop what the caller has to say."""
    try:
        put(folder, state, wake_next(state))
    except OSError as error:
        log.add("WARN", "mark", f"{folder}: not armed: {error}")


def rearm(folder: str, state: State) -> None:
    """Renew what the mark says of the state. Without a mark the next hook wakes by itself."""
    armed = mark.load(folder)
    if armed is not None:
        armed.owed, armed.stop = owed_to(state), stop_at(state)
        put(folder, state, armed)


def owed_to(state: State) -> int:
    """Flags: who has unread messages (the model's brief: not in a subagent)."""
    brief = bool(state.second_brief) and not state.agent_id
    words = mark.OWED_TO_USER * bool(state.owed or state.restored) + mark.OWED_TO_MODEL * brief
    return words + mark.OWED_TO_SERVER * bool(state.team)


def stop_guard(settings: Settings) -> int:
    """Whether the guard is on, and by the session's own variable, which only its hooks see."""
    on = settings.word("stop_guard") == "on"
    if settings.origins["stop_guard"].startswith("$"):
        return ON_BY_VARIABLE if on else OFF_BY_VARIABLE
    return ON if on else OFF


def stop_at(state: State) -> int:
    """From how many tokens on the guard looks at a stop; 0 while it is off."""
    if state.stop_guard not in (ON, ON_BY_VARIABLE):
        return 0
    if not state.edge_tokens:
        return mark.NEVER
    return state.checkpoint_tokens + int(UNSAVED * state.edge_tokens) + 1

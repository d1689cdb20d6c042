"""From verdict to mark: what the hook must compare until the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.wire import log, mark, places
from holdfast.wire.mark import (
    CHARS_PER_TOKEN,
    NEVER,
    OWED_TO_MODEL,
    OWED_TO_SERVER,
    OWED_TO_USER,
    Mark,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.settings.load import Settings
    from holdfast.window.guard import Verdict
    from holdfast.window.state import State
    from holdfast.wire.spool import SpoolLine

WAKE_NEXT = 0
OFF, ON, ON_BY_VARIABLE, OFF_BY_VARIABLE = range(4)


def mark_for(
    state: State,
    verdict: Verdict,
    lines: Sequence[SpoolLine],
    spool_bytes: int,
    settings: Settings,
) -> Mark:
    """Wake when a threshold, a fast step, a fall, a monitored call, a look for cold segments or
    half an hour has come."""
    from holdfast.window import monitor
    from holdfast.window.crossing import FREED
    from holdfast.window.guard import Thresholds, next_tokens

    edge = state.edge_tokens
    above = next_tokens(verdict, edge, Thresholds.of(settings))
    watched = settings.whole("capacity_threshold") / 100
    for share in (watched, settings.share("segment_queue_from")):
        if verdict.used_ratio < share:
            above = min(above, int(share * edge) + 1)
    monitored = NEVER
    if verdict.used_ratio >= watched:
        monitored = monitor.wake_at_bytes(state, lines, spool_bytes, settings)
    rolled = monitor.compression_wake_bytes(state, verdict.used_ratio, lines, spool_bytes, settings)
    return Mark(
        above=above,
        below=max(0, int((verdict.used_ratio - FREED) * edge)),
        spool_bytes=min(monitored, rolled),
        time_ms=monitor.wake_at_ms(state, lines, settings),
        density=state.density,
        overhead=state.overhead_tokens,
        owed=owed(state),
        stop=stop_at(state),
    )


def wake_next(state: State) -> Mark:
    """After a compaction was announced: look again at the very next call."""
    return Mark(
        above=WAKE_NEXT,
        density=state.density or CHARS_PER_TOKEN,
        overhead=state.overhead_tokens,
        owed=owed(state),
        stop=stop_at(state),
    )


def put(folder: str, state: State, made: Mark) -> None:
    """In place of the old one; while a message waits, the next call wakes and the model is owed.
    Not in a subagent: what its call's hook prints would go to its parent."""
    if places.has_outbox(folder):
        made.owed |= OWED_TO_MODEL
        made.above = made.above if state.agent_id else WAKE_NEXT
    mark.arm(folder, made)


def rouse(folder: str, state: State) -> None:
    """Put that mark in place where it can be; what the caller has to say comes first."""
    try:
        put(folder, state, wake_next(state))
    except OSError as slip:
        log.add("WARN", "mark", f"{folder}: not armed: {slip}")


def owed(state: State) -> int:
    """To the user a word, to the model a second brief (of a subagent nobody is told), to a team's
    server whatever happens."""
    brief = bool(state.second_brief) and not state.agent_id
    words = OWED_TO_USER * bool(state.owed or state.restored) + OWED_TO_MODEL * brief
    return words + OWED_TO_SERVER * bool(state.team)


def stop_guard(settings: Settings) -> int:
    """As it is now, and whether the session's own variable says so: a command run elsewhere reads
    the same files, and not that variable."""
    on = settings.word("stop_guard") == "on"
    if settings.origins["stop_guard"].startswith("$"):
        return ON_BY_VARIABLE if on else OFF_BY_VARIABLE
    return ON if on else OFF


def stop_at(state: State) -> int:
    """From how many tokens on a stop is looked at; 0 while the guard is off."""
    if state.stop_guard not in (ON, ON_BY_VARIABLE):
        return 0
    if not state.edge_tokens:
        return NEVER
    from holdfast.window.stop_guard import UNSAVED  # paid for by whoever turned it on

    return state.checkpoint_tokens + int(UNSAVED * state.edge_tokens) + 1

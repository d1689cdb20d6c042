"""Which windows need a checkpoint, why, and in what order. Values in, a verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.watcher.glance import Glance
from holdfast.window import room

# A checkpoint just ahead is a hook's, taken since this look began; one from further ahead is of a
# clock that was set back since, and nobody waits for that time to come again.
SET_BACK_MS = 10 * 60_000


@dataclass(frozen=True, slots=True)
class Due:
    glance: Glance
    reason: str  # as the board says it: context_60_percent, active_30_minutes


def reason(seen: Glance, active_ms: int, now_ms: int) -> str:
    """Why a checkpoint is due now; empty while none is. Never soon after one."""
    settings = seen.settings
    if -SET_BACK_MS < now_ms - seen.checkpoint_ms < settings.whole("cooldown_seconds") * 1000:
        return ""
    watch_at = settings.share("watch_at")
    wanted = room.action(seen.used_tokens, seen.edge_tokens, seen.checkpoint_tokens, watch_at)
    if wanted == room.TRIGGER:
        return f"context_{round(watch_at * 100)}_percent"
    minutes = settings.whole("active_minutes")
    return f"active_{minutes}_minutes" if active_ms >= minutes * 60_000 else ""


def ordered(due: Iterable[Due]) -> list[Due]:
    """The fullest first; what only has worked for long comes after what is full."""
    return sorted(due, key=lambda one: (one.reason.startswith("active"), -one.glance.used_ratio))


def next_of_each(due: Iterable[Due], last_s: Mapping[str, float], now_s: float) -> list[Due]:
    """At most one of a project, and none of one that had its turn a moment ago."""
    chosen: dict[str, Due] = {}
    for one in ordered(due):
        project, apart = one.glance.project, one.glance.settings.whole("watch_apart_seconds")
        waited = now_s - last_s.get(project, now_s - apart)
        if project not in chosen and waited >= apart:
            chosen[project] = one
    return list(chosen.values())

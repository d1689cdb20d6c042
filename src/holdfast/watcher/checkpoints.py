"""The watcher's checkpoints: which windows need one, why, in what order, and how one is taken.

A checkpoint is taken under the window's lock, unless a hook took one first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.events import take_checkpoint
from holdfast.record import storage
from holdfast.watcher.glance import Glance
from holdfast.window import health, view
from holdfast.window.state import State, lock_state
from holdfast.window.windows import fill, for_transcript
from holdfast.wire import log, places
from holdfast.wire.errors import describe

# A checkpoint slightly in the future was taken by a hook since this look began. One further ahead
# means that the clock was set back, and waiting for that time would be waiting for nothing.
SET_BACK_MS = 10 * 60_000


@dataclass(frozen=True, slots=True)
class DueCheckpoint:
    glance: Glance
    reason: str  # as the message names it: context_60_percent, active_30_minutes


def reason(seen: Glance, now_ms: int) -> str:
    """Why a checkpoint is due now; empty if none is, as always soon after the last one."""
    settings = seen.settings
    if -SET_BACK_MS < now_ms - seen.checkpoint_ms < settings.whole("cooldown_seconds") * 1000:
        return ""
    watch_at = settings.share("watch_at")
    wanted = health.recommend_action(
        seen.used_tokens, seen.edge_tokens, seen.checkpoint_tokens, watch_at
    )
    if wanted == health.TRIGGER:
        return f"context_{round(watch_at * 100)}_percent"
    minutes = settings.whole("active_minutes")
    return f"active_{minutes}_minutes" if seen.active_ms >= minutes * 60_000 else ""


def sort(due: Iterable[DueCheckpoint]) -> list[DueCheckpoint]:
    """The fullest windows first, then those that are due because of the time worked."""
    return sorted(
        due, key=lambda window: (window.reason.startswith("active"), -window.glance.used_ratio)
    )


def choose_per_project(
    due: Iterable[DueCheckpoint], last_s: Mapping[str, float], now_s: float
) -> list[DueCheckpoint]:
    """At most one window per project, and none of a project that was saved a moment ago."""
    chosen: dict[str, DueCheckpoint] = {}
    for one in sort(due):
        project, apart = one.glance.project, one.glance.settings.whole("watch_apart_seconds")
        waited = now_s - last_s.get(project, now_s - apart)
        if project not in chosen and waited >= apart:
            chosen[project] = one
    return list(chosen.values())


TRIGGER = "watcher"


def take(due: DueCheckpoint, now_ms: int) -> SavedCheckpoint | None:
    """Take a verified checkpoint; None if it is no longer due or could not be saved.

    The transcript is read before the lock is taken, because hooks wait for the lock two seconds.
    """
    seen = due.glance
    read_ahead(seen)
    with lock_state(seen.folder) as state:
        fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
        if not reason(_with_latest_checkpoint(seen, state), now_ms):
            return None
        view.measure(state, seen.settings, now_ms, seen.folder)
        kept = take_checkpoint.take(state, seen.folder, TRIGGER, now_ms)
    if kept is not None:
        words = f"checkpoint {kept.id} {'is unchanged' if kept.reused else 'saved'} (watcher)"
        log.add("INFO", seen.found.session_id[:8], f"{seen.used_in_words}, {due.reason}, {words}")
    return kept


def record(seen: Glance, now_ms: int) -> None:
    """Record a window that no hook has reported, so that it is listed among the live ones."""
    places.make_folder(seen.folder)
    with lock_state(seen.folder) as state:
        if not state.started_ms:
            fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
            view.measure(state, seen.settings, now_ms, seen.folder)
            # A time in the future would keep the window live for ever.
            state.watched_ms = min(seen.found.changed_ms, now_ms)


def read_ahead(seen: Glance) -> None:
    places.make_folder(seen.folder)
    state, folder = for_transcript(
        Path(seen.found.path), seen.found.session_id, seen.found.agent_id
    )
    try:
        storage.read_on(state, folder)
    except Exception as error:  # the checkpoint itself reports what is missing
        log.add("WARN", "watcher", f"{seen.found.path} could not be read ahead: {describe(error)}")


def _with_latest_checkpoint(seen: Glance, state: State) -> Glance:
    """The glance, updated with a checkpoint that a hook took meanwhile."""
    if state.checkpoint_ms == seen.checkpoint_ms:
        return seen
    saved = min(state.checkpoint_tokens, seen.used_tokens)
    return replace(seen, checkpoint_ms=state.checkpoint_ms, checkpoint_tokens=saved)

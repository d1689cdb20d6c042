"""The watcher's own checkpoint: taken under the window's lock, unless a hook was quicker."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from holdfast.checkpoint.write import Kept
from holdfast.events import take_checkpoint
from holdfast.watcher.due_checkpoints import Due, reason
from holdfast.watcher.glance import Glance
from holdfast.window import view
from holdfast.window.for_transcript import fill, met
from holdfast.window.state import State, held
from holdfast.wire import log

TRIGGER = "watcher"


def take(due: Due, active_ms: int, now_ms: int) -> Kept | None:
    """A verified checkpoint; None where one is no longer due, or could not be kept.

    A long transcript is read before the lock is taken: hooks wait for it two seconds at most.
    """
    seen = due.glance
    _read_ahead(seen)
    with held(seen.folder) as state:
        fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
        if not reason(_as_it_is(seen, state), active_ms, now_ms):
            return None
        view.measure(state, seen.settings, now_ms, seen.folder)
        kept = take_checkpoint.take(state, seen.folder, TRIGGER, now_ms)
    if kept is not None:
        words = f"checkpoint {kept.id} {'stands' if kept.reused else 'kept'} (watcher)"
        log.add("INFO", seen.found.session_id[:8], f"{seen.used_in_words}, {due.reason}, {words}")
    return kept


def note(seen: Glance, now_ms: int) -> None:
    """Of a window no hook has heard of: there for everybody who asks which are live."""
    os.makedirs(seen.folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    with held(seen.folder) as state:
        if not state.started_ms:
            fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
            view.measure(state, seen.settings, now_ms, seen.folder)
            state.watched_ms = min(seen.found.changed_ms, now_ms)  # else it would never fall silent


def _read_ahead(seen: Glance) -> None:
    os.makedirs(seen.folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    state, folder = met(Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
    try:
        take_checkpoint.facts_of(state, folder)
    except Exception as slip:  # the checkpoint itself says what is missing
        log.add("WARN", "watcher", f"{seen.found.path} was not read ahead: {slip!r}")


def _as_it_is(seen: Glance, state: State) -> Glance:
    """The glance with a checkpoint that a hook took since."""
    if state.checkpoint_ms == seen.checkpoint_ms:
        return seen
    saved = min(state.checkpoint_tokens, seen.used_tokens)
    return replace(seen, checkpoint_ms=state.checkpoint_ms, checkpoint_tokens=saved)

"""Windows as their transcripts say now, whatever was noted last: the very numbers of `status`, for
whoever asks about many. A look is kept until the transcript or the notes change."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from typing import Any

from holdfast.settings import load as settings_load
from holdfast.window import view
from holdfast.window.health import describe
from holdfast.window.state import State

MOST_SECONDS = 1.0  # the end of a long transcript takes 60 ms; a thousand of them nobody waits for
MOST_KEPT = 2_000
Signature = tuple[tuple[int, int], tuple[int, int]]
_kept: dict[str, tuple[Signature, dict[str, Any]]] = {}
_lock = threading.Lock()


def look(windows: Iterable[tuple[str, State]], now_ms: int) -> dict[str, dict[str, Any]]:
    """By folder. Those without a transcript here, and those there was no time for, are not told
    of: what was noted of them stands."""
    until_s = time.monotonic() + MOST_SECONDS
    found: dict[str, dict[str, Any]] = {}
    for folder, state in windows:
        signed = (_written(state.transcript), _written(f"{folder}/state.json"))
        known = _kept.get(folder)
        if known is not None and known[0] == signed:
            found[folder] = known[1]
        elif signed[0][0] and time.monotonic() < until_s:
            found[folder] = _looked(folder, state, now_ms, signed)
    return found


def _looked(folder: str, state: State, now_ms: int, signed: Signature) -> dict[str, Any]:
    settings = settings_load.load(state.project)
    seen = view.of_transcript(state, settings, now_ms, folder)
    health = describe(seen, state, settings.share("watch_at"))
    if not health["compacting"]:  # that ends by itself, too
        with _lock:
            while len(_kept) >= MOST_KEPT:
                del _kept[next(iter(_kept))]
            _kept[folder] = (signed, health)
    return health


def _written(path: str) -> tuple[int, int]:
    """When and how long; zeros where it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 (of every live window)
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size

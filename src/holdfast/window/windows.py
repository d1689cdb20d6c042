"""Windows by transcript, the windows that are still in use, and what they hold now.

Windows are read again from their transcripts, so that the numbers agree with `status`. A look is
cached until the transcript or the state changes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.client import limit_settings
from holdfast.settings import load as settings_load
from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.wire import places

LIVE_MS = 30 * 60_000  # after a longer silence it was killed or left open
MOST_SECONDS = 1.0  # the end of one long transcript takes 60 ms, and there may be a thousand
MOST_KEPT = 2_000
Signature = tuple[tuple[int, int], tuple[int, int]]
_kept: dict[str, tuple[Signature, dict[str, Any]]] = {}
_lock = threading.Lock()


def is_over(folder: str, state: State) -> bool:
    """Whether its session or its agent has ended, as its hooks reported."""
    return bool(state.ended_ms) or places.is_closed(folder)


def met(path: Path, session_id: str, agent_id: str) -> tuple[State, str]:
    """A transcript's state and folder. Two files may claim one session: each has a folder."""
    folder = places.window(session_id, agent_id)
    state = window_state.load(folder)
    if state.transcript and not _is_same(Path(state.transcript), path):
        folder = places.window(f"{session_id}.{_key(path)}", agent_id)
        state = window_state.load(folder)
    fill(state, path, session_id, agent_id)
    return state, folder


def fill(state: State, path: Path, session_id: str, agent_id: str) -> None:
    """Fill in ids, project and limit settings, unless hooks recorded them."""
    if not state.session_id:
        state.session_id, state.agent_id = session_id, agent_id
        project = limit_settings.project_of(path)
        state.cwd = state.project = project
        state.switches = limit_settings.read(project, os.environ).as_json()
    state.transcript = str(path)


def _is_same(one: Path, other: Path) -> bool:
    """The same file, not only the same name: two folders may each hold a `transcript.jsonl`."""
    return one == other or one.resolve() == other.resolve()


def _key(path: Path) -> str:
    return f"{crc32(str(path.resolve()).encode('utf-8', 'surrogateescape')):08x}"


def look(windows: Iterable[tuple[str, State]], now_ms: int) -> dict[str, dict[str, Any]]:
    """Health by folder. Windows without a transcript here, and those there was no time for, are
    left out: their recorded state stands."""
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
    from holdfast.window import view  # many callers only ask whether a window is over
    from holdfast.window.health import describe

    settings = settings_load.load(state.project)
    seen = view.of_transcript(state, settings, now_ms, folder)
    health = describe(seen, state, settings.share("watch_at"))
    if not health["compacting"]:  # that ends without a change of these files
        with _lock:
            while len(_kept) >= MOST_KEPT:
                del _kept[next(iter(_kept))]
            _kept[folder] = (signed, health)
    return health


def _written(path: str) -> tuple[int, int]:
    """Time of change and size; zeros if it is missing."""
    try:
        found = os.stat(path)  # noqa: PTH116 (of every live window)
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size

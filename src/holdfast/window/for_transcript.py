"""A transcript's window as far as it is known: what its hooks noted, else what the file tells."""

from __future__ import annotations

import os
from pathlib import Path
from zlib import crc32

from holdfast.client import limit_settings
from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.wire import places


def met(path: Path, session_id: str, agent_id: str) -> tuple[State, str]:
    """The state and its folder. Two files may claim one session: each has a folder of its own."""
    folder = places.window(session_id, agent_id)
    state = window_state.load(folder)
    if state.transcript and not _is_same(Path(state.transcript), path):
        folder = places.window(f"{session_id}.{_key(path)}", agent_id)
        state = window_state.load(folder)
    fill(state, path, session_id, agent_id)
    return state, folder


def fill(state: State, path: Path, session_id: str, agent_id: str) -> None:
    """Who and where, unless hooks noted it; the switches as they are seen from here."""
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

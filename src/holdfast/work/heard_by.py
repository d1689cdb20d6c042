"""The windows of this machine whose agents can be told something, and by which name each is called.

A main window is called by its session, a subagent's by its own id.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from holdfast.window import state as states
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.work import projects

LIVE_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Listener:
    folder: str
    name: str
    project_id: str
    is_agent: bool
    transcript: str


def listeners(now_ms: int, name: str = "") -> list[Listener]:
    """Of sessions that have not ended and were heard of within a day; all, or of one name."""
    return [
        _of(folder, state)
        for folder, state in (_called(name) if name else states.all_windows())
        if state.session_id and _is_live(folder, state, now_ms)
    ]


def _called(name: str) -> list[tuple[str, State]]:
    """By their folders: nothing else is opened."""
    folders = [places.window(name)]
    folders += map(str, Path(places.windows()).glob(f"*/agent-{escape(places.plain(name))}"))
    return [(folder, states.load(folder)) for folder in folders]


def with_outbox() -> Iterator[Listener]:
    """Those with something to settle, whether they live or not."""
    for path in sorted(Path(places.windows()).glob("*/*/outbox.*")):
        if path.name == "outbox.done" and places.has_outbox(str(path.parent)):
            continue  # told of by its other file
        if path.name in ("outbox.json", "outbox.done"):
            yield _of(str(path.parent), states.load(str(path.parent)))


def _of(folder: str, state: State) -> Listener:
    return Listener(
        folder,
        state.agent_id or state.session_id,
        projects.id_of(state.project or state.cwd),
        bool(state.agent_id),
        state.transcript,
    )


def _is_live(folder: str, state: State, now_ms: int) -> bool:
    heard_ms = max(state.at_ms, _touched_ms(f"{folder}/spool"))
    ended = bool(state.ended_ms) or places.is_closed(folder)
    return not ended and now_ms - heard_ms < LIVE_MS


def _touched_ms(path: str) -> int:
    try:
        return int(os.stat(path).st_mtime * 1000)  # noqa: PTH116
    except OSError:
        return 0

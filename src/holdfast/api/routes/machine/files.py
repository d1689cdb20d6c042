"""Read files of this machine for routes, on separate threads.

A search or a long transcript may take seconds; the few threads for the database must not wait for
it. A path from a request is never opened: a project is local only if a session ran in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from holdfast.api.responses import Database
from holdfast.hub.errors import NotThere, Unreachable
from holdfast.hub.ingest import windows
from holdfast.hub.tree.readings import state_of as state_of_hooks
from holdfast.hub.tree.sessions import get_project
from holdfast.memory import locations, session_sources
from holdfast.window.state import State
from holdfast.wire import places

P = ParamSpec("P")
T = TypeVar("T")
MOST_SECONDS = 30.0
_THREADS = ThreadPoolExecutor(2, "holdfast-files")


async def read_files(look: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(MOST_SECONDS):
            return await loop.run_in_executor(_THREADS, lambda: look(*args, **more))
    except TimeoutError:
        busy = Unreachable(f"reading files took more than {MOST_SECONDS:g} seconds")
        busy.hint = "this machine is busy: ask again"
        raise busy from None


def state_of(session_id: str, agent_id: str) -> State | None:
    """Return this machine's state of a window: as hooks noted it, else as the transcript of a past
    session tells it."""
    known = state_of_hooks(session_id, agent_id)
    return known or (None if agent_id else windows.state_of(session_id))


async def local_project(db: Database, project_id: str) -> str:
    """Return the folder of a project in which a session of this machine ran."""
    row = await db.read(lambda connection: get_project(connection, project_id))
    path = locations.resolve(row["path"])
    if path not in await read_files(session_sources.known_projects):
        raise NotThere("Project on this machine")
    return path


async def local_window(session_id: str, agent_id: str = "") -> tuple[State, str]:
    """Return the state and the folder of a window on this machine."""
    state = await read_files(state_of_hooks, session_id, agent_id)
    if state is None:
        raise NotThere("Session with a transcript on this machine")
    return state, places.window(session_id, agent_id)

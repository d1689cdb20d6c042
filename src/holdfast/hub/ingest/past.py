"""Sessions that no hook has reported: the transcripts that the agents still have.

Only files that a listing of the agents' own folders names are opened, never a path from outside.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from holdfast.client import agents
from holdfast.client.limit_settings import project_of
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.ingest.records import NAME_CHARS, PATH_CHARS, RecordedEvent
from holdfast.hub.ingest.windows import ReadPosition, Span, WindowReader
from holdfast.settings import load as settings_load
from holdfast.window import state as states
from holdfast.window import view
from holdfast.window.state import State
from holdfast.window.windows import LIVE_MS, fill
from holdfast.wire import places

PAST = "past"


def sources() -> list[str]:
    """A source for each session without hooks, newest first. Ids that no database can store are
    left out."""
    found = (name for name in agents.by_session() if not is_reported(name))
    return [f"{PAST}:{name}" for name in found if name.isascii() and len(name) <= NAME_CHARS]


def is_reported(session_id: str) -> bool:
    """Whether hooks or the watcher know the session; then its window is read."""
    return bool(states.load(places.window(session_id)).transcript)


def find_window(session_id: str) -> WindowReader | None:
    path = agents.by_session().get(session_id)
    project = project_of(path) if path else ""
    if path is None or not project or is_reported(session_id):
        return None
    project = (replace_unstorable(project).rstrip("/") or "/")[:PATH_CHARS]
    return WindowReader(
        folder=places.window(session_id),
        session_id=replace_unstorable(session_id),
        agent_id="",
        agent_type="",
        project=project,
        transcript=str(path),
        project_id=ids.project_id(project),
        state=State(session_id=session_id, transcript=str(path), project=project),
    )


def listing(window: WindowReader, held: ReadPosition) -> list[RecordedEvent]:
    """Return the session itself, before its turns are read; `held` is then no longer empty. One
    that nobody has written to for half an hour has ended. The time is that of the file in whole
    seconds: a hook that reports the session later is not older."""
    last_ms = max(1, int(os.stat(window.transcript).st_mtime) * 1000)  # noqa: PTH116
    span = Span()
    span.add(last_ms)
    if row_times.now_ms() - last_ms > LIVE_MS:
        span.end(last_ms)
    held.first_ms, held.last_ms = span.first_ms, span.last_ms
    return span.records(window)


def state_of(session_id: str) -> State | None:
    """Return the state of a past session, as its transcript tells it; None if there is none."""
    path = agents.by_session().get(session_id)
    if path is None:
        return None
    state = State()
    fill(state, Path(path), session_id, "")
    return state


def with_limit(window: WindowReader) -> WindowReader:
    """Return the window with its compaction limit, for which the end of its transcript is read."""
    state = state_of(window.session_id) or window.state
    settings = settings_load.load(state.project)
    limit = view.of_transcript(state, settings, row_times.now_ms()).edge
    state.edge_tokens = limit.edge_tokens
    return replace(window, state=state)

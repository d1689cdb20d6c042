"""Windows: session, agent, project and transcript as the hooks noted them, how far a window has
been read, and which time a batch covers. A session that no hook has reported is known by its
transcript: only files that a listing of the agents' own folders names are opened.

The store saves the position beside the rows, as plain JSON. If it cannot be read, reading starts
again: ids are made from what things are, so reading twice changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.client import agents
from holdfast.client.claude_folder import project_of
from holdfast.files.folders import names_in
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.ingest.records import (
    NAME_CHARS,
    PATH_CHARS,
    RecordedEvent,
    RecordedProject,
    RecordedSession,
)
from holdfast.settings import load as settings_load
from holdfast.transcript import lookup
from holdfast.window import measurement
from holdfast.window import state as states
from holdfast.window.live_windows import LIVE_MS, fill
from holdfast.window.state import State
from holdfast.wire import places

MAIN, AGENT = "main", "agent-"
PAST = "past"


class WindowReader(msgspec.Struct, frozen=True):
    folder: str
    session_id: str
    agent_id: str
    agent_type: str
    project: str
    transcript: str
    project_id: str
    state: State

    @property
    def names(self) -> dict[str, Any]:
        """What every record of this window says of it."""
        names = "session_id", "project_id", "agent_id"
        return {name: getattr(self, name) for name in names}


def all_windows(sessions: Iterable[str] | None = None) -> list[str]:
    """`session/main` and `session/agent-ID` of these sessions, each one's main window first."""
    found = []
    for session in sorted(names_in(places.windows()) if sessions is None else sessions):
        leaves = names_in(f"{places.windows()}/{session}")
        leaves = [leaf for leaf in leaves if leaf == MAIN or leaf.startswith(AGENT)]
        found += [
            f"{session}/{leaf}" for leaf in sorted(leaves, key=lambda leaf: (leaf != MAIN, leaf))
        ]
    return found


def find_window(name: str) -> WindowReader | None:
    """Return a window, or None until a hook has noted where the session works."""
    session, _, leaf = name.partition("/")
    if places.plain(session) != session and not session.startswith("%"):
        return None
    main = states.load(f"{places.windows()}/{session}/{MAIN}")
    folder = f"{places.windows()}/{session}/{leaf}"
    agent_id = leaf.removeprefix(AGENT) if leaf != MAIN else ""
    own = states.load(folder) if agent_id else main
    project = main.project or own.project
    session_id = main.session_id or own.session_id or session
    if not project:
        return None
    agent_id = (own.agent_id or agent_id) if agent_id else ""
    transcript = own.transcript or places.transcript(main.transcript, agent_id)
    transcript = transcript if main.transcript or own.transcript else ""
    return _reader(folder, session_id, agent_id, project, transcript, own)


def _reader(
    folder: str, session_id: str, agent_id: str, project: str, transcript: str, state: State
) -> WindowReader:
    project = (replace_unstorable(project).rstrip("/") or "/")[:PATH_CHARS]
    return WindowReader(
        folder=folder,
        session_id=replace_unstorable(session_id)[:NAME_CHARS],
        agent_id=replace_unstorable(agent_id)[:NAME_CHARS],
        agent_type=replace_unstorable(state.agent_type)[:NAME_CHARS],
        project=project,
        transcript=transcript,
        project_id=ids.project_id(project),
        state=state,
    )


class Span:
    """What a batch covers: its position grows with each time that is added."""

    def __init__(self, reached: ReadPosition) -> None:
        self.reached = reached
        self._turns = [(0, 0)]  # each end of the session, and its last resumption after that

    def add(self, ms: int) -> None:
        if ms > 0:
            self.reached.first_ms = min(self.reached.first_ms or ms, ms)
            self.reached.last_ms = max(self.reached.last_ms, ms)

    def end(self, ms: int) -> None:
        self._turns.append((ms, 0))

    def open(self, ms: int) -> None:
        ended_ms, opened_ms = self._turns[-1]
        self._turns[-1] = ended_ms, max(opened_ms, ms)

    @property
    def has_turned(self) -> bool:
        return self._turns != [(0, 0)]

    def records(self, window: WindowReader) -> list[RecordedEvent]:
        """Return the project once per batch, and the session once per end and resumption.

        They are in order, so applying them gives the same result wherever a batch is cut.
        """
        times = {"first_ms": self.reached.first_ms, "last_ms": self.reached.last_ms}
        if not times["first_ms"]:
            return []
        project = RecordedProject(id=window.project_id, path=window.project, **times)
        turns = [turn for turn in self._turns if any(turn)] or [(0, 0)]
        fields = [{**times, "ended_ms": ended, "opened_ms": opened} for ended, opened in turns]
        return [
            project,
            *(RecordedSession(window.session_id, window.project_id, **each) for each in fields),
        ]


class ReadPosition(msgspec.Struct, omit_defaults=True, gc=False):
    """`turns`: where the pass over the transcript stopped (`record.stream.save_state`)."""

    spool: dict[str, int] = {}
    turns: dict[str, Any] = {}
    state: str = ""  # a checksum of the health that was recorded last
    first_ms: int = 0  # first and last time of everything recorded
    last_ms: int = 0
    request: str = ""
    prompt_id: str = ""
    standing: str = ""  # the request's status, as last recorded
    task: str = ""  # the task of the list that is under way
    waves: int = 0  # number of tasks under this request

    def begin(self) -> None:
        """Start a transcript from its beginning."""
        self.request = self.prompt_id = self.standing = self.task = ""
        self.waves = 0


def parse_position(position: dict[str, Any]) -> ReadPosition:
    try:
        return msgspec.convert(position, ReadPosition)
    except msgspec.ValidationError:
        return ReadPosition()


_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def position_text(reached: ReadPosition) -> dict[str, Any]:
    """Return the position as plain values that both databases can store."""
    data = _NUL.sub(rb"\1?", msgspec.json.encode(reached))
    found: dict[str, Any] = msgspec.json.decode(data)
    return found


def past_sources() -> list[str]:
    """A source for each session without hooks, newest first. Ids that no database can store are
    left out."""
    found = (name for name in agents.by_session() if not is_reported(name))
    return [f"{PAST}:{name}" for name in found if name.isascii() and len(name) <= NAME_CHARS]


def is_reported(session_id: str) -> bool:
    """Whether hooks or the watcher know the session; then its window is read."""
    return bool(states.load(places.window(session_id)).transcript)


def find_past(session_id: str) -> WindowReader | None:
    path = agents.by_session().get(session_id)
    project = project_of(path) if path else ""
    if path is None or not project or is_reported(session_id):
        return None
    state = State(session_id=session_id, transcript=str(path), project=project)
    return _reader(places.window(session_id), session_id, "", project, str(path), state)


def list_past(window: WindowReader, held: ReadPosition) -> list[RecordedEvent]:
    """Return the session itself, before its turns are read; `held` is then no longer empty. One
    that nobody has written to for half an hour has ended."""
    last_ms = max(1, lookup.written_ms(window.transcript))
    span = Span(held)
    span.add(last_ms)
    if row_times.now_ms() - last_ms > LIVE_MS:
        span.end(last_ms)
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
    limit = measurement.of_transcript(state, settings, row_times.now_ms()).edge
    state.edge_tokens = limit.edge_tokens
    return replace(window, state=state)

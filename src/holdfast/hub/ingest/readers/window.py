"""Whose window a folder is: session, agent, project and transcript, as the hooks noted them."""

from __future__ import annotations

import os

import msgspec

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers.clean_text import whole
from holdfast.hub.ingest.records import NAME_CHARS, PATH_CHARS
from holdfast.window import state as states
from holdfast.window.state import State
from holdfast.wire import places

MAIN, AGENT = "main", "agent-"


class WindowReader(msgspec.Struct, frozen=True):
    folder: str
    session_id: str
    agent_id: str
    agent_type: str
    project: str
    transcript: str
    project_id: str
    state: State


def all_sources() -> list[str]:
    """`session/main` and `session/agent-ID`, each session's main window first."""
    found = []
    for session in sorted(_names_in(places.windows())):
        leaves = _names_in(f"{places.windows()}/{session}")
        leaves = [leaf for leaf in leaves if leaf == MAIN or leaf.startswith(AGENT)]
        found += [
            f"{session}/{leaf}" for leaf in sorted(leaves, key=lambda one: (one != MAIN, one))
        ]
    return found


def of(name: str) -> WindowReader | None:
    """None while no hook has noted yet where the session works: its lines wait until then."""
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
    project = (whole(project).rstrip("/") or "/")[:PATH_CHARS]
    return WindowReader(
        folder=folder,
        session_id=whole(session_id)[:NAME_CHARS],
        agent_id=whole(agent_id)[:NAME_CHARS],
        agent_type=whole(own.agent_type)[:NAME_CHARS],
        project=project,
        transcript=transcript if main.transcript or own.transcript else "",
        project_id=derived_ids.project_id(project),
        state=own,
    )


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all we need
    except OSError:
        return []

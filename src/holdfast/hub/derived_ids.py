"""Ids of what hooks and transcripts tell: made of what it is, so a thing told twice is one row.

No database is loaded here: hooks gather with it.
"""

from __future__ import annotations

from holdfast.hub.store import ids
from holdfast.wire.spool import ident


def tidy(path: str) -> str:
    return path.rstrip("/") or "/"


def project_id(path: str) -> str:
    return ids.of("project", tidy(path))


def request_id(session_id: str, told: str) -> str:
    """`told`: the prompt's id, which hooks know too, else its line's; empty: told by no prompt."""
    return ids.of("request", session_id, told)


def default_task_id(request_id: str) -> str:
    """For subagents that were started under no task of the list."""
    return ids.of("task", request_id)


def task_id(session_id: str, key: str) -> str:
    return ids.of("task", session_id, key)


def subtask_id(session_id: str, agent_id: str) -> str:
    return ids.of("subtask", session_id, ident(agent_id))


def subtask_of_call(session_id: str, tool_use_id: str) -> str:
    """An agent whose own id nobody told."""
    return ids.of("subtask", session_id, "call", tool_use_id)


def action_id(session_id: str, tool_use_id: str) -> str:
    """The same for the spool, which spells odd ids plainly, and the transcript, which does not."""
    return ids.of("action", session_id, ident(tool_use_id))


def context_id(session_id: str, agent_id: str) -> str:
    """One row per agent and session: the same name in another session is another agent. The
    session itself is an agent by its session's id."""
    return ids.of("agent", session_id, agent_id or session_id)


def checkpoint_row_id(project: str, checkpoint_id: str) -> str:
    return ids.of("checkpoint", project, checkpoint_id)


def audit_id(line: str) -> str:
    return ids.of("audit", line)

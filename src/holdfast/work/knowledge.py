"""What one agent should know now: its tasks, what it did, who wrote to it, who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.checkpoint.snapshot_form import normalized
from holdfast.store.page import Row, first, rows
from holdfast.store.tables import (
    actions,
    agent_contexts,
    blockings,
    messages,
    projects,
    sessions,
    subtasks,
    windows,
)
from holdfast.work import compaction, moment
from holdfast.work.deliveries import untouched
from holdfast.work.errors import NotThere
from holdfast.work.hearing import hears
from holdfast.work.status import OPEN

MOST = 50
DURATIONS = frozenset(("total_duration_ms", "duration_ms"))


@dataclass(frozen=True, slots=True)
class Wanted:
    history: bool = True
    messages: bool = True
    blocking: bool = True
    history_limit: int = 50


@dataclass(frozen=True, slots=True)
class Known:
    session_id: str | None
    agent_type: str | None
    data: dict[str, Any]
    saved: dict[str, Any]  # the newest snapshot, in its one form
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(value) for name, value in self.data.items() if isinstance(value, list)}

    @property
    def told(self) -> dict[str, Any]:
        """The same in the words of a snapshot, for the brief."""
        return {
            **self.saved,
            "recent_messages": self.data["messages"],
            "recent_actions": self.data["history"],
            "blockings": self.data["blockings"],
        }


def of(
    connection: Connection, agent_id: str, session_id: str | None, wanted: Wanted, now_ms: int
) -> Known:
    """An agent nobody has heard of, without a session, is not there."""
    place = _placed(connection, agent_id)
    session_id = session_id or (place or {}).get("session_id")
    if session_id is None:
        raise NotThere("Agent", agent_id)
    session = first(connection, sa.select(sessions).where(sessions.c.id == session_id))
    project_id = (session or {}).get("project_id")
    project = first(connection, sa.select(projects).where(projects.c.id == project_id))
    snapshot = compaction.latest(connection, session_id)
    data: dict[str, Any] = {
        "tasks": _tasks(connection, agent_id, session_id),
        "messages": _unread(connection, agent_id, project_id, now_ms) if wanted.messages else [],
        "blockings": _blockings(connection, agent_id) if wanted.blocking else [],
        "history": _history(connection, session_id, wanted),
        "session": _dated(session) if session else None,
        "project": _dated(project) if project else None,
    }
    sources = _sources(snapshot, data["tasks"])
    saved = normalized(snapshot["role_context"] if snapshot else None)
    saved["active_tasks"] = compaction.open_now(connection, saved["active_tasks"], data["tasks"])
    return Known(session_id, (place or {}).get("agent_type"), data, saved, sources)


def _placed(connection: Connection, agent_id: str) -> Row | None:
    """Where this agent was last heard of: in a context, a subtask, a window, or as a session."""
    for table in (agent_contexts, subtasks, windows):
        newest = table.c.created_ms if table is subtasks else table.c.updated_ms
        query = sa.select(table.c.session_id, table.c.agent_type).where(
            table.c.agent_id == agent_id
        )
        if found := first(connection, query.order_by(newest.desc()).limit(1)):
            return found
    known = connection.scalar(sa.select(sessions.c.id).where(sessions.c.id == agent_id))
    return {"session_id": known, "agent_type": None} if known else None


def _tasks(connection: Connection, agent_id: str, session_id: str) -> list[Row]:
    table = subtasks.c
    mine = (table.agent_id == agent_id) | (table.session_id == session_id)
    query = sa.select(subtasks).where(mine, table.status.in_(OPEN))
    return [
        _dated(row) for row in rows(connection, query.order_by(table.created_ms.desc()).limit(MOST))
    ]


def _unread(
    connection: Connection, agent_id: str, project_id: str | None, now_ms: int
) -> list[Row]:
    """To look is not to read: what is listed here is delivered another time."""
    table = messages.c
    query = sa.select(messages).where(hears(agent_id, project_id, now_ms), untouched(agent_id))
    order = (table.priority.desc(), table.created_ms, table.id)
    return [_dated(row) for row in rows(connection, query.order_by(*order).limit(MOST))]


def _blockings(connection: Connection, agent_id: str) -> list[Row]:
    table = blockings.c
    query = sa.select(blockings).where(
        (table.blocked_by == agent_id) | (table.blocked_agent == agent_id)
    )
    return [_dated(row) for row in rows(connection, query.limit(MOST))]


def _history(connection: Connection, session_id: str, wanted: Wanted) -> list[Row]:
    if not wanted.history or not wanted.history_limit:
        return []
    table = actions.c
    columns = (table.id, table.tool_name, table.tool_type, table.exit_code, table.file_paths)
    query = sa.select(*columns, table.created_ms).where(table.session_id == session_id)
    newest = query.order_by(table.created_ms.desc(), table.id).limit(wanted.history_limit)
    return [_dated(row) for row in rows(connection, newest)]


def _dated(row: Row) -> Row:
    """Times as they are written outside: `created_ms` becomes `created_at`."""
    times = [name for name in row if name.endswith("_ms") and name not in DURATIONS]
    rest = {name: value for name, value in row.items() if name not in times}
    return rest | {f"{name[:-3]}_at": moment.written(row[name]) for name in times}


def _sources(snapshot: Row | None, tasks: list[Row]) -> list[dict[str, Any]]:
    found = []
    if snapshot:
        text = str(snapshot["progress_summary"] or "")[:200]
        found.append({"type": "snapshot", "id": snapshot["id"], "relevance": 1.0, "summary": text})
    for task in tasks[:10]:
        text = str(task["description"])[:200]
        found.append({"type": "subtask", "id": task["id"], "relevance": 0.8, "summary": text})
    return found

"""What is known of each agent, and its snapshots, which are rows of the same table.

Snapshots are saved through the API, found by the exact session, and restored as a brief. While an
agent works, its row follows its newest open subtask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.store import events
from holdfast.hub.store.rows import Page, Row, fetch_page, first, matching, rows, upsert
from holdfast.hub.store.tables import agent_contexts, requests, sessions, subtasks, tasks
from holdfast.hub.tree import sessions as known_sessions
from holdfast.hub.tree.snapshot_form import SNAPSHOT as SNAPSHOT
from holdfast.hub.tree.snapshot_form import task_id, without_repeats
from holdfast.hub.tree.statuses import ENDED, OPEN


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    agent_id: str | None = None,
    agent_type: str | None = None,
    status: str | None = None,
    session_id: str | None = None,
    project_id: str | None = None,
) -> Page:
    """List contexts, newest first. A snapshot is also found by the id of its session."""
    table = agent_contexts.c
    query = sa.select(agent_contexts).order_by(table.updated_ms.desc(), table.id)
    if agent_id is not None:
        snapshot = (table.agent_type == SNAPSHOT) & (table.session_id == agent_id)
        query = query.where((table.agent_id == agent_id) | snapshot)
    wanted = matching(
        agent_contexts,
        agent_type=agent_type,
        status=status,
        session_id=session_id,
        project_id=project_id,
    )
    return fetch_page(connection, query.where(*wanted), limit, offset)


def figures(connection: Connection) -> dict[str, Any]:
    """Count contexts, in total and by type and status."""
    table = agent_contexts.c
    of_type = _count_by(connection, table.agent_type)
    of_status = _count_by(connection, table.status)
    return {
        "stats": {
            "total": sum(of_type.values()),
            "unique_types": len(of_type),
            **{name: of_status.get(name, 0) for name in ("running", "completed", "failed")},
        },
        "type_distribution": [
            {"agent_type": name, "count": n}
            for name, n in sorted(of_type.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }


def tools_used(connection: Connection) -> dict[str, int]:
    """Count for each tool the contexts that used it."""
    query = sa.select(agent_contexts.c.tools_used).order_by(agent_contexts.c.updated_ms.desc())
    found: dict[str, int] = {}
    for row in rows(connection, query.limit(1000)):
        for tool in row["tools_used"] or ():
            found[str(tool)] = found.get(str(tool), 0) + 1
    return found


def _count_by(connection: Connection, column: sa.Column[Any]) -> dict[str, int]:
    query = sa.select(column, sa.func.count()).group_by(column)
    return {str(name): int(n) for name, n in connection.execute(query) if name is not None}


def follow(connection: Connection, session_id: str, agent_id: str, now_ms: int) -> None:
    """Update the agent's row after one of its subtasks changed; delete it with the last of them."""
    row_id = ids.context_id(session_id, agent_id)
    subtask = _at_work_on(connection, session_id, agent_id)
    if subtask is None:
        connection.execute(sa.delete(agent_contexts).where(agent_contexts.c.id == row_id))
        return
    known = {
        "project_id": subtask["project_id"],
        "agent_type": subtask["agent_type"],
        "status": subtask["status"],
        "role_context": _role(subtask),
        "progress_summary": subtask["description"],
        "updated_ms": now_ms,
    }
    row = {
        "id": row_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "skills_to_restore": [],
        "tools_used": [],
        **known,
    }
    connection.execute(upsert(connection, agent_contexts, ["id"], row, known))


def _at_work_on(connection: Connection, session_id: str, agent_id: str) -> Row | None:
    query = (
        sa.select(subtasks, requests.c.project_id)
        .select_from(subtasks.join(tasks).join(requests))
        .where(
            subtasks.c.agent_id == agent_id,
            subtasks.c.session_id == session_id,
            subtasks.c.agent_type.is_not(None),
            subtasks.c.status.not_in(ENDED),
        )
        .order_by(
            (subtasks.c.status == "running").desc(),
            subtasks.c.created_ms.desc(),
            subtasks.c.id.desc(),
        )
        .limit(1)
    )
    return first(connection, query)


def _role(subtask: Row) -> Row:
    return {
        "status": subtask["status"],
        "session_id": subtask["session_id"],
        "subtask_id": subtask["id"],
        "task_list_id": subtask["task_id"],
        "task_description": subtask["description"],
        "parent_agent_id": subtask["parent_agent_id"],
        "spawned_at": row_times.to_iso(subtask["created_ms"]),
        "blocked_by": subtask["blocked_by"] or [],
    }


@contextmanager
def following(
    connection: Connection, which_subtasks: sa.ColumnElement[bool], now_ms: int
) -> Iterator[None]:
    """Update the rows of the agents of these subtasks, which are deleted meanwhile."""
    agent = sa.select(subtasks.c.session_id, subtasks.c.agent_id).distinct()
    agents = connection.execute(agent.where(which_subtasks, subtasks.c.agent_id.is_not(None))).all()
    yield
    for session_id, agent_id in agents:
        follow(connection, session_id, agent_id, now_ms)


TASK_FIELDS = ("id", "description", "status", "agent_type", "agent_id")
_SESSION = sa.bindparam("of_session", type_=sa.Text)
LATEST = (
    sa.select(agent_contexts)
    .where(agent_contexts.c.session_id == _SESSION, agent_contexts.c.agent_type == SNAPSHOT)
    .order_by(agent_contexts.c.updated_ms.desc(), agent_contexts.c.id)
    .limit(1)
)
_COMPACTED = (
    sa.update(sessions)
    .where(sessions.c.id == _SESSION)
    .values(
        compacted_ms=sa.bindparam("now_ms"),
        compact_summary=sa.func.coalesce(
            sa.bindparam("summary", type_=sa.Text), sessions.c.compact_summary
        ),
        compact_agent=sa.bindparam("agent"),
        compact_count=sessions.c.compact_count + 1,
    )
)
ENDED_SINCE = sa.select(subtasks.c.id).where(
    subtasks.c.id.in_(sa.bindparam("named", type_=sa.Text, expanding=True)),
    subtasks.c.status.not_in(OPEN),
)


def save_snapshot(
    connection: Connection, session_id: str, snapshot: Mapping[str, Any], now_ms: int
) -> Row:
    """Add a row per save; an unknown session is created."""
    project_id = known_sessions.meet(connection, session_id, None, now_ms)
    row: Row = {
        "id": ids.new(),
        "project_id": project_id,
        "agent_id": f"{SNAPSHOT}-{session_id}-{now_ms}",
        "agent_type": SNAPSHOT,
        "session_id": session_id,
        "status": "completed",
        "role_context": snapshot,
        "skills_to_restore": [],
        "tools_used": [],
        "progress_summary": snapshot.get("context_summary"),
        "compact_id": None,
        "updated_ms": now_ms,
    }
    connection.execute(sa.insert(agent_contexts), row)
    events.announce(
        connection,
        "snapshot.saved",
        {"id": row["id"], "trigger": snapshot.get("trigger")},
        project_id=project_id,
        session_id=session_id,
    )
    return row


def latest_snapshot(connection: Connection, session_id: str) -> Row | None:
    return first(connection, LATEST, {"of_session": session_id})


def note_compaction(
    connection: Connection, session_id: str, summary: str, agent: str, now_ms: int
) -> None:
    """Record that this session's window was compacted. An unknown session is not created."""
    given = {"of_session": session_id, "summary": summary or None, "agent": agent, "now_ms": now_ms}
    if connection.execute(_COMPACTED, given).rowcount:
        events.announce(connection, "session.compacted", {"agent": agent}, session_id=session_id)


def snapshot_status(connection: Connection, session_id: str) -> Row | None:
    found = known_sessions.find(connection, session_id)
    if found is not None:
        return found
    any_request = sa.select(requests.c.id).where(requests.c.session_id == session_id).limit(1)
    return None if connection.scalar(any_request) is None else {"compacted_ms": None}


def open_now(saved: Sequence[Any], open_ones: Sequence[Row], ended: Sequence[Row]) -> list[Any]:
    """Merge saved tasks with the store's open ones, without those that have ended since."""
    over = {one["id"] for one in ended}
    left = [one for one in saved if task_id(one) not in over]
    return without_repeats([*map(task_of, open_ones), *left])


def task_of(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in TASK_FIELDS}

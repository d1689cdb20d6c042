"""Who is at work now: agents with a running subtask, and sessions that have not ended."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, rows
from holdfast.hub.store.tables import actions, projects, requests, subtasks, tasks
from holdfast.hub.tree import sessions

_PROJECT = (projects.c.path.label("project_path"), projects.c.name.label("project_name"))


def agents(connection: Connection, limit: int, offset: int) -> list[Row]:
    """Running subtasks, the newest first."""
    done = sa.select(sa.func.count()).where(actions.c.subtask_id == subtasks.c.id)
    query = (
        sa.select(
            subtasks.c.id.label("subtask_id"),
            subtasks.c.agent_type,
            subtasks.c.agent_id,
            subtasks.c.description,
            subtasks.c.started_ms,
            subtasks.c.created_ms,
            subtasks.c.session_id,
            tasks.c.request_id,
            *_PROJECT,
            done.scalar_subquery().label("actions_count"),
        )
        .select_from(subtasks.join(tasks).join(requests).join(projects))
        .where(subtasks.c.status == "running")
        .order_by(subtasks.c.created_ms.desc(), subtasks.c.id.desc())
    )
    return rows(connection, query.limit(limit).offset(offset))


def live_sessions(connection: Connection, limit: int, offset: int, now_ms: int) -> Page:
    """Active sessions with the project they are in."""
    page = sessions.listed(connection, limit, offset, now_ms=now_ms, active_only=True)
    wanted = {row["project_id"] for row in page.rows if row["project_id"] is not None}
    query = sa.select(projects.c.id, *_PROJECT).where(projects.c.id.in_(wanted))
    known = {row["id"]: row for row in rows(connection, query)} if wanted else {}
    for row in page.rows:
        place = known.get(row["project_id"], {})
        row["project_path"] = place.get("project_path")
        row["project_name"] = place.get("project_name")
    return page


def as_agent(session: Row) -> Row:
    """A session where no agent runs: it is its own agent."""
    return {
        "subtask_id": None,
        "agent_type": "session",
        "agent_id": session["id"],
        "description": "",
        "started_ms": session["started_ms"],
        "created_ms": session["started_ms"],
        "session_id": session["id"],
        "request_id": None,
        "project_path": session["project_path"],
        "project_name": session["project_name"],
        "actions_count": session["total_tools_used"],
    }

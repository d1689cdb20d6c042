"""Sessions, and who is at work now. Any non-empty text is an id, as Claude Code gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.errors import AlreadyThere, NotThere, Refused
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Page, Row, fetch_page, first, put_new, rows
from holdfast.hub.store.tables import (
    actions,
    compactions,
    projects,
    readings,
    requests,
    sessions,
    subtasks,
    tasks,
)

ACTIVE_MS = 30 * 60_000
TOTALS = ("total_tools_used", "total_success", "total_errors")


def add(connection: Connection, row: dict[str, Any], now_ms: int) -> Row:
    """Add a session; `row` holds columns of the table, including `id`."""
    if row.get("project_id") is not None:
        _must_exist(connection, row["project_id"])
    if find(connection, row["id"]) is not None:
        raise AlreadyThere("Session already exists", row["id"])
    whole = {"started_ms": now_ms, "seen_ms": now_ms, **row}
    connection.execute(sa.insert(sessions).values(whole))
    pending_writes.count(connection, "sessions")
    _tell(connection, "session.started", whole)
    return get(connection, row["id"])


def meet(connection: Connection, session_id: str, project_id: str | None, now_ms: int) -> None:
    """Create the session if it is new, and note activity at this time."""
    row = {
        "id": session_id,
        "project_id": project_id,
        "started_ms": now_ms,
        "seen_ms": now_ms,
        **dict.fromkeys(TOTALS, 0),
    }
    if put_new(connection, sessions, row):
        pending_writes.count(connection, "sessions")
        _tell(connection, "session.started", row)
        return
    known = {"seen_ms": now_ms}
    unplaced = sa.update(sessions).where(sessions.c.id == session_id)
    connection.execute(unplaced.values(known))
    if project_id is not None:
        connection.execute(
            unplaced.where(sessions.c.project_id.is_(None)).values(project_id=project_id)
        )


def find(connection: Connection, session_id: str) -> Row | None:
    query = sa.select(sessions).where(sessions.c.id == session_id)
    return first(connection, query)


def get(connection: Connection, session_id: str) -> Row:
    found = find(connection, session_id)
    if found is None:
        raise NotThere("Session")
    return found


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    now_ms: int,
    project_id: str | None = None,
    active_only: bool = False,
) -> Page:
    """List sessions, newest first. Active means not ended, or ended less than half an hour ago."""
    query = sa.select(sessions).order_by(sessions.c.started_ms.desc(), sessions.c.id)
    if project_id is not None:
        query = query.where(sessions.c.project_id == project_id)
    if active_only:
        ended = sessions.c.ended_ms
        query = query.where(ended.is_(None) | (ended > now_ms - ACTIVE_MS))
    filtered = project_id is not None or active_only
    total = None if filtered else pending_writes.stored_count(connection, "sessions")
    return fetch_page(connection, query, limit, offset, total=total)


def change(connection: Connection, session_id: str, changes: dict[str, Any]) -> Row:
    if not changes:
        raise Refused("No fields to update")
    before = get(connection, session_id)
    connection.execute(sa.update(sessions).where(sessions.c.id == session_id).values(changes))
    kind = "session.ended" if changes.get("ended_ms") is not None else "session.changed"
    _tell(connection, kind, {**before, **changes})
    return get(connection, session_id)


def remove(connection: Connection, session_id: str) -> None:
    get(connection, session_id)
    connection.execute(sa.delete(sessions).where(sessions.c.id == session_id))
    for table in (readings, compactions):
        connection.execute(sa.delete(table).where(table.c.session_id == session_id))
    pending_writes.count(connection, "sessions", -1)
    pending_writes.announce(connection, "session.removed", session_id=session_id)


def _must_exist(connection: Connection, project_id: str) -> None:
    if connection.scalar(sa.select(projects.c.id).where(projects.c.id == project_id)) is None:
        raise NotThere("Project")


def _tell(connection: Connection, kind: str, row: Mapping[str, Any]) -> None:
    project_id, session_id = row.get("project_id"), row["id"]
    pending_writes.announce(connection, kind, {}, project_id=project_id, session_id=session_id)


def stats(connection: Connection, now_ms: int) -> dict[str, Any]:
    """Count sessions: in total and by project."""
    ended = sessions.c.ended_ms
    active = sa.case((ended.is_(None) | (ended > now_ms - ACTIVE_MS), 1), else_=0)
    overview = connection.execute(
        sa.select(
            sa.func.count().label("total_sessions"),
            sa.func.coalesce(sa.func.sum(active), 0).label("active_sessions"),
            *(sa.func.coalesce(sa.func.sum(sessions.c[name]), 0).label(name) for name in TOTALS),
            sa.func.coalesce(sa.func.min(sessions.c.started_ms), 0).label("oldest_ms"),
            sa.func.coalesce(sa.func.max(sessions.c.started_ms), 0).label("newest_ms"),
        )
    ).one()
    by_project = rows(
        connection,
        sa.select(
            projects.c.name.label("project_name"),
            projects.c.path.label("project_path"),
            sa.func.count().label("session_count"),
            sa.func.coalesce(sa.func.sum(sessions.c.total_tools_used), 0).label("total_tools"),
        )
        .join_from(sessions, projects)
        .group_by(projects.c.id, projects.c.name, projects.c.path)
        .order_by(sa.func.count().desc(), projects.c.path)
        .limit(100),
    )
    return {
        "overview": _overview({name: int(n) for name, n in overview._mapping.items()}),
        "by_project": [
            {
                **row,
                "session_count": int(row["session_count"]),
                "total_tools": int(row["total_tools"]),
            }
            for row in by_project
        ],
    }


def _overview(sums: dict[str, int]) -> dict[str, Any]:
    oldest, newest = sums.pop("oldest_ms"), sums.pop("newest_ms")
    n, tools = sums["total_sessions"], sums["total_tools_used"]
    return {
        **sums,
        "total_tools": tools,
        "avg_tools_per_session": tools / n if n else 0.0,
        "oldest_session": row_times.to_iso(oldest if n else None),
        "newest_session": row_times.to_iso(newest if n else None),
    }


_PROJECT = (projects.c.path.label("project_path"), projects.c.name.label("project_name"))


def agents_at_work(connection: Connection, limit: int, offset: int) -> list[Row]:
    """List running subtasks, newest first."""
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
    """List active sessions with their project."""
    page = list_page(connection, limit, offset, now_ms=now_ms, active_only=True)
    wanted = {row["project_id"] for row in page.rows if row["project_id"] is not None}
    query = sa.select(projects.c.id, *_PROJECT).where(projects.c.id.in_(wanted))
    known = {row["id"]: row for row in rows(connection, query)} if wanted else {}
    for row in page.rows:
        place = known.get(row["project_id"], {})
        row["project_path"] = place.get("project_path")
        row["project_name"] = place.get("project_name")
    return page


def session_as_agent(session: Row) -> Row:
    """Describe a session without running agents as its own agent."""
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

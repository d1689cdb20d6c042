"""Projects: one per path. The id is made from the path, so everybody finds the same one."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.store import ids, notes
from holdfast.store.page import Page, Row, first, paged
from holdfast.store.tables import projects, requests, sessions, subtasks, tasks
from holdfast.store.upsert import upsert
from holdfast.work.errors import NotThere

GONE_WITH_IT = ("projects", "sessions", "requests", "tasks", "subtasks", "actions", "messages")


def id_of(path: str) -> str:
    return ids.of("project", tidy(path))


def tidy(path: str) -> str:
    return path.rstrip("/") or "/"


def put(
    connection: Connection,
    path: str,
    now_ms: int,
    *,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Row:
    """Make it, or change what is given: the name is kept, and metadata merged one level."""
    path = tidy(path)
    project_id = id_of(path)
    before = find(connection, project_id)
    if before is None:
        row = {
            "id": project_id,
            "path": path,
            "name": name,
            "metadata": metadata or {},
            "created_ms": now_ms,
            "updated_ms": now_ms,
        }
        connection.execute(upsert(connection, projects, ["id"], row, {}))
        notes.count(connection, "projects")
        notes.announce(connection, "project.created", {"path": path}, project_id=project_id)
    else:
        changes: dict[str, Any] = {"updated_ms": max(now_ms, before["updated_ms"])}
        if name is not None:
            changes["name"] = name
        if metadata:
            changes["metadata"] = {**(before["metadata"] or {}), **metadata}
        connection.execute(sa.update(projects).where(projects.c.id == project_id).values(changes))
    return get(connection, project_id)


def find(connection: Connection, project_id: str) -> Row | None:
    query = sa.select(projects).where(projects.c.id == project_id)
    return first(connection, query)


def get(connection: Connection, project_id: str) -> Row:
    found = find(connection, project_id)
    if found is None:
        raise NotThere("Project")
    return found


def by_path(connection: Connection, path: str) -> Row:
    return get(connection, id_of(path))


def listed(connection: Connection, limit: int, offset: int) -> Page:
    query = sa.select(projects).order_by(projects.c.updated_ms.desc(), projects.c.id)
    return paged(connection, query, limit, offset, total=notes.counted(connection, "projects"))


def remove(connection: Connection, project_id: str) -> None:
    """With everything that belongs to it."""
    get(connection, project_id)
    connection.execute(sa.delete(projects).where(projects.c.id == project_id))
    notes.recount(connection, GONE_WITH_IT)
    notes.announce(connection, "project.removed", project_id=project_id)


def stats(connection: Connection, project: Row) -> dict[str, Any]:
    """Figures of one project, from its sessions' totals: never by counting its actions."""
    of_project = sessions.c.project_id == project["id"]
    used = connection.execute(
        sa.select(
            sa.func.coalesce(sa.func.sum(sessions.c.total_tools_used), 0),
            sa.func.coalesce(sa.func.sum(sessions.c.total_success), 0),
            sa.func.coalesce(sa.func.sum(sessions.c.total_duration_ms), 0),
            sa.func.coalesce(sa.func.sum(sessions.c.timed_actions), 0),
            sa.func.max(sessions.c.seen_ms),
            _requests_of(project["id"]),
            _subtasks_of(project["id"]),
        ).where(of_project)
    ).one()
    actions, succeeded, duration_ms, timed, seen_ms, asked, parts = used
    return {
        "project_id": project["id"],
        "project_name": project["name"],
        "path": project["path"],
        "total_requests": int(asked or 0),
        "total_subtasks": int(parts or 0),
        "total_actions": int(actions),
        "successful_actions": int(succeeded),
        "avg_duration_ms": float(duration_ms) / int(timed) if timed else None,
        "last_activity_ms": max(seen_ms or 0, project["updated_ms"]),
    }


def _requests_of(project_id: str) -> Any:
    counted = sa.select(sa.func.count()).select_from(requests)
    return counted.where(requests.c.project_id == project_id).scalar_subquery()


def _subtasks_of(project_id: str) -> Any:
    joined = subtasks.join(tasks).join(requests)
    counted = sa.select(sa.func.count()).select_from(joined)
    return counted.where(requests.c.project_id == project_id).scalar_subquery()

"""Projects: one per path. The id is made from the path, so every machine and process gets the same
one.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere
from holdfast.hub.ids import tidy
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Page, Row, fetch_page, first, put_new
from holdfast.hub.store.tables import counts, projects, requests, sessions, waves
from holdfast.hub.tree import totals

MOST_NAME = 200  # characters
_BY_PROJECT = pending_writes.BY_PROJECT
_PROJECT = sa.bindparam("project_id", type_=sa.Text)


def _figures_query() -> sa.Select[Any]:
    """Build the query once: building it takes twice as long as running it."""
    worked = (
        sa.select(
            sa.func.coalesce(sa.func.sum(sessions.c.total_tools_used), 0).label("actions"),
            sa.func.coalesce(sa.func.sum(sessions.c.total_success), 0).label("succeeded"),
            sa.func.coalesce(sa.func.sum(sessions.c.total_duration_ms), 0).label("duration_ms"),
            sa.func.coalesce(sa.func.sum(sessions.c.timed_actions), 0).label("timed"),
            sa.func.max(sessions.c.seen_ms).label("seen_ms"),
        )
        .where(sessions.c.project_id == _PROJECT)
        .subquery()
    )
    kept = [_stored_count(noun).label(noun) for noun in _BY_PROJECT]
    query = sa.select(projects, *worked.c, *kept).select_from(projects.join(worked, sa.true()))
    return query.where(projects.c.id == _PROJECT)


def _stored_count(noun: str) -> sa.ColumnElement[int]:
    known = sa.select(counts.c.n).where(counts.c.noun == sa.bindparam(noun, type_=sa.Text))
    return sa.func.coalesce(known.scalar_subquery(), 0)


_MEASURED = _figures_query()


def id_of(path: str) -> str:
    return ids.project_id(path)


def put(
    connection: Connection,
    path: str,
    now_ms: int,
    *,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Row:
    """Create a project or update it. The name stays unless one is given; metadata is merged one
    level deep."""
    if not _create(connection, path, now_ms, {"name": name, "metadata": metadata or {}}):
        _change(connection, path, now_ms, name, metadata or {})
    return by_path(connection, path)


def meet(connection: Connection, path: str, now_ms: int) -> None:
    """Create the project if it is new, with the name that it gets when its sessions are read."""
    _create(connection, path, now_ms, {"name": name_of(path), "metadata": {}})


def name_of(path: str) -> str | None:
    """The name of a project that nobody has named: that of its folder."""
    return path.rstrip("/").rpartition("/")[2][:MOST_NAME] or None


def _create(connection: Connection, path: str, now_ms: int, more: Row) -> bool:
    """Create the project; return False if it existed. Of several that create it at once, one
    succeeds."""
    path, project_id = tidy(path), id_of(path)
    row = {"id": project_id, "path": path, "created_ms": now_ms, "updated_ms": now_ms, **more}
    is_new = put_new(connection, projects, row)
    if is_new:
        pending_writes.count(connection, "projects")
        pending_writes.announce(
            connection, "project.created", {"path": path}, project_id=project_id
        )
    return is_new


def _change(
    connection: Connection, path: str, now_ms: int, name: str | None, metadata: dict[str, Any]
) -> None:
    """Update the project, and its path too: one recovered from a damaged file has no path until
    it is reported again."""
    mine = projects.c.id == id_of(path)
    held = sa.select(projects).where(mine).with_for_update(key_share=True)  # others may tell too
    before = first(connection, held) or {"updated_ms": 0, "metadata": {}}
    changes: dict[str, Any] = {"path": tidy(path)}
    changes["updated_ms"] = max(now_ms, before["updated_ms"])
    if name is not None:
        changes["name"] = name
    if metadata:
        changes["metadata"] = {**(before["metadata"] or {}), **metadata}
    connection.execute(sa.update(projects).where(mine).values(changes))


def find(connection: Connection, project_id: str) -> Row | None:
    query = sa.select(projects).where(projects.c.id == project_id)
    return first(connection, query)


def get(connection: Connection, project_id: str) -> Row:
    found = find(connection, project_id)
    if found is None:
        raise NotThere("Project")
    return found


def must_know(connection: Connection, project_id: str) -> None:
    """As `get`, but checked once: if the project is deleted later, writes that refer to it fail
    and are retried."""
    if not pending_writes.knows(connection, "project", project_id):
        get(connection, project_id)
        pending_writes.learn(connection, "project", project_id)


def by_path(connection: Connection, path: str) -> Row:
    return get(connection, id_of(path))


def list_page(connection: Connection, limit: int, offset: int) -> Page:
    query = sa.select(projects).order_by(projects.c.updated_ms.desc(), projects.c.id)
    return fetch_page(
        connection, query, limit, offset, total=pending_writes.stored_count(connection, "projects")
    )


def remove(connection: Connection, project_id: str) -> None:
    """Delete the project and everything that belongs to it."""
    get(connection, project_id)
    spoken_in = sa.select(requests.c.session_id).where(requests.c.project_id == project_id)
    connection.execute(sa.delete(waves).where(waves.c.session_id.in_(spoken_in)))
    connection.execute(sa.delete(projects).where(projects.c.id == project_id))
    pending_writes.recount(connection, pending_writes.KEPT)
    totals.recount_calls(connection)
    pending_writes.forget(
        connection,
        [pending_writes.of_project(noun, project_id) for noun in pending_writes.BY_PROJECT],
    )
    pending_writes.announce(connection, "project.removed", project_id=project_id)


def count(connection: Connection, project_id: str, noun: str, by: int = 1) -> None:
    """Add to the stored counts of requests, tasks or subtasks: in total and for this project."""
    pending_writes.count(connection, noun, by)
    pending_writes.count(connection, pending_writes.of_project(noun, project_id), by)


def recount(connection: Connection) -> None:
    """Count all rows again: in total, by project and by tool."""
    pending_writes.recount_all(connection)
    totals.recount_calls(connection)


def figures(connection: Connection, project_id: str) -> tuple[Row, Row]:
    """Return a project and its figures, from its sessions' totals and stored counts; no rows are
    counted."""
    nouns = {noun: pending_writes.of_project(noun, project_id) for noun in _BY_PROJECT}
    found = first(connection, _MEASURED, {"project_id": project_id, **nouns})
    if found is None:
        raise NotThere("Project")
    project = {name: found[name] for name in projects.c.keys()}  # noqa: SIM118
    timed = int(found["timed"])
    return project, {
        "project_id": project_id,
        "project_name": project["name"],
        "path": project["path"],
        "total_requests": found["requests"],
        "total_tasks": found["tasks"],
        "total_subtasks": found["subtasks"],
        "total_actions": int(found["actions"]),
        "successful_actions": int(found["succeeded"]),
        "avg_duration_ms": float(found["duration_ms"]) / timed if timed else None,
        "last_activity_ms": max(found["seen_ms"] or 0, project["updated_ms"]),
    }

"""Projects: one per path. The id is made from the path, so every machine and process gets the same
one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sqlalchemy as sa

from holdfast.hub import ids
from holdfast.hub.ids import tidy
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row, find_page, first, put_new, update
from holdfast.hub.store.rows import get as get_row
from holdfast.hub.store.tables import projects, requests, sessions, subtasks, tasks

MOST_NAME = 200  # characters


def id_of(path: str) -> str:
    return ids.project_id(path)


def name_of(path: str) -> str | None:
    """The default name of a project is that of its folder."""
    return path.rstrip("/").rpartition("/")[2][:MOST_NAME] or None


def put(
    connection: sa.Connection,
    path: str,
    now_ms: int,
    *,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Row:
    """Create or update a project; a name stays, metadata is merged one level deep."""
    project_id, metadata = id_of(path), metadata or {}
    if not _create(connection, path, now_ms, name, metadata):
        held = sa.select(projects).where(projects.c.id == project_id)
        before = first(connection, held.with_for_update(key_share=True))
        before = before or {"updated_ms": 0, "metadata": {}, "name": None}
        changes = {
            "path": tidy(path),  # one recovered from a damaged file has none until it is reported
            "updated_ms": max(now_ms, before["updated_ms"]),
            "name": before["name"] if name is None else name,
            "metadata": {**(before["metadata"] or {}), **metadata},
        }
        update(connection, projects, project_id, changes)
    return get(connection, project_id)


def meet(connection: sa.Connection, path: str, at_ms: int) -> None:
    """Create the project if it is new, with the name that it gets when its sessions are read."""
    _create(connection, path, at_ms, name_of(path), {})


def _create(
    connection: sa.Connection, path: str, at_ms: int, name: str | None, metadata: dict[str, Any]
) -> bool:
    """Create the project; return False if it existed. Of several at once, one succeeds."""
    project_id, path = id_of(path), tidy(path)
    row = {"id": project_id, "path": path, "name": name, "metadata": metadata}
    is_new = put_new(connection, projects, {**row, "created_ms": at_ms, "updated_ms": at_ms})
    if is_new:
        events.announce(connection, "project.created", {"path": path}, project_id=project_id)
    return is_new


get = partial(get_row, table=projects)
list_page = partial(find_page, table=projects, order=(projects.c.updated_ms.desc(), projects.c.id))


def by_path(connection: sa.Connection, path: str) -> Row:
    return get(connection, id_of(path))


def remove(connection: sa.Connection, project_id: str, _now_ms: int) -> None:
    """Delete the project and everything that belongs to it."""
    get(connection, project_id)
    connection.execute(sa.delete(projects).where(projects.c.id == project_id))
    events.announce(connection, "project.removed", project_id=project_id)


def figures(connection: sa.Connection, project_id: str) -> tuple[Row, Row]:
    """Return a project and its figures; those of its actions from the sums of its sessions."""
    project = get(connection, project_id)
    branches = {
        "requests": requests,
        "tasks": requests.join(tasks),
        "subtasks": requests.join(tasks).join(subtasks),
    }
    number = sa.select(sa.func.count()).where(requests.c.project_id == project_id)
    counts = {
        f"total_{noun}": connection.scalar(number.select_from(branch))
        for noun, branch in branches.items()
    }
    summed = ("total_tools_used", "total_success", "total_duration_ms", "timed_actions")
    sums = (sa.func.coalesce(sa.func.sum(sessions.c[name]), 0) for name in summed)
    query = sa.select(*sums, sa.func.max(sessions.c.seen_ms))
    row = connection.execute(query.where(sessions.c.project_id == project_id)).one()
    calls, succeeded, took_ms, timed = map(int, row[:4])
    return project, {
        "project_id": project_id,
        "project_name": project["name"],
        "path": project["path"],
        **counts,
        "total_actions": calls,
        "successful_actions": succeeded,
        "avg_duration_ms": took_ms / timed if timed else None,
        "last_activity_ms": max(row[4] or 0, project["updated_ms"]),
    }

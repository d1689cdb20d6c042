"""Requests: what a user asked for, in one session of one project. A project is also read as a tree
of requests, tasks and subtasks, in four queries whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store import pending_writes
from holdfast.hub.store.prepared import PreparedQuery, read_together
from holdfast.hub.store.rows import Page, Row, fetch_page, first, rows
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, projects, sessions, waves
from holdfast.hub.tree.statuses import end_time

NEWEST_FIRST = (requests.c.created_ms.desc(), requests.c.id.desc())


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a request; create its session if it is new."""
    projects.get(connection, given["project_id"])
    status = given.get("status", "active")
    row = {
        "id": ids.in_order(now_ms),
        "project_id": given["project_id"],
        "session_id": given["session_id"],
        "prompt": given["prompt"],
        "prompt_type": given.get("prompt_type", "other"),
        "metadata": given.get("metadata") or {},
        "created_ms": now_ms,
        **end_time(status, now_ms),
    }
    sessions.meet(connection, row["session_id"], row["project_id"], now_ms)
    connection.execute(sa.insert(requests), row)
    projects.count(connection, row["project_id"], "requests")
    _tell(connection, "request.created", row)
    return row


def get(connection: Connection, request_id: str) -> Row:
    return _fetch(connection, sa.select(requests).where(requests.c.id == request_id))


def _get_locked(connection: Connection, request_id: str) -> Row:
    """As `get`, and lock the row: others change it only after this transaction."""
    query = sa.select(requests).where(requests.c.id == request_id)
    return _fetch(connection, query.with_for_update(key_share=True))


def _fetch(connection: Connection, query: sa.Select[Any]) -> Row:
    found = first(connection, query)
    if found is None:
        raise NotThere("Request")
    return found


def tasks_of(connection: Connection, request_id: str) -> list[Row]:
    query = sa.select(tasks).where(tasks.c.request_id == request_id)
    return rows(connection, query.order_by(tasks.c.wave_number, tasks.c.created_ms, tasks.c.id))


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
) -> Page:
    """List requests, newest first."""
    wanted = {"project_id": project_id, "session_id": session_id, "status": status}
    filters = [requests.c[name] == value for name, value in wanted.items() if value is not None]
    query = sa.select(requests).where(*filters).order_by(*NEWEST_FIRST)
    total = None if filters else pending_writes.stored_count(connection, "requests")
    return fetch_page(connection, query, limit, offset, total=total)


def latest(connection: Connection, limit: int, **of: str) -> list[Row]:
    """Return the last requests of a project or a session, without counting the others."""
    filters = [requests.c[name] == value for name, value in of.items()]
    query = sa.select(requests).where(*filters).order_by(*NEWEST_FIRST).limit(limit)
    return rows(connection, query)


def change(connection: Connection, request_id: str, given: Row, now_ms: int) -> Row:
    """Change the status, or add metadata, merged one level deep."""
    if not given:
        raise Refused("No update fields provided")
    before = _get_locked(connection, request_id)
    changes: dict[str, Any] = {}
    if "status" in given:
        changes = end_time(given["status"], now_ms, before)
    if "metadata" in given:
        changes["metadata"] = {
            **(before["metadata"] or {}),
            **(given["metadata"] or {}),
        }
    connection.execute(sa.update(requests).where(requests.c.id == request_id).values(changes))
    row = {**before, **changes}
    _tell(connection, "request.changed", row)
    return row


def remove(connection: Connection, request_id: str, now_ms: int) -> None:
    """Delete the request with its tasks, their subtasks and their actions."""
    row = get(connection, request_id)
    waves.hold(connection, row["session_id"])
    agent_contexts.below(connection, row["project_id"], tasks.c.request_id == request_id, now_ms)
    connection.execute(sa.delete(requests).where(requests.c.id == request_id))
    projects.count(connection, row["project_id"], "requests", -1)
    _tell(connection, "request.removed", row)
    waves.settle(connection, row["session_id"], row["project_id"], now_ms)


def _tell(connection: Connection, kind: str, row: Row) -> None:
    body = {"id": row["id"], "status": row["status"]}
    pending_writes.announce(
        connection, kind, body, project_id=row["project_id"], session_id=row["session_id"]
    )


_IN_PAGE = tasks.c.request_id.in_(sa.bindparam("request_ids", expanding=True))
_TASKS = PreparedQuery(sa.select(tasks).where(_IN_PAGE), "request_ids")
_SUBTASKS = PreparedQuery(
    sa.select(subtasks).join_from(subtasks, tasks).where(_IN_PAGE), "request_ids"
)
_REQUESTS = (
    sa.select(requests)
    .where(requests.c.project_id == sa.bindparam("project_id"))
    .order_by(*NEWEST_FIRST)
    .limit(sa.bindparam("limit"))
    .offset(sa.bindparam("offset"))
)


@dataclass(frozen=True, slots=True)
class HierarchyTree:
    project: Row
    figures: Row
    requests: Page  # each with `tasks`, each of these with `subtasks`


def tree_of_project(
    connection: Connection, project_id: str, limit: int, offset: int
) -> HierarchyTree:
    """Return requests newest first, tasks by wave, subtasks oldest first."""
    project, figures = projects.figures(connection, project_id)
    page = {"project_id": project_id, "limit": limit, "offset": offset}
    request_rows = rows(connection, _REQUESTS, page)
    _grow(connection, request_rows)
    return HierarchyTree(
        project, figures, Page(request_rows, figures["total_requests"], limit, offset)
    )


def _grow(connection: Connection, asked: list[Row]) -> None:
    """Attach tasks and subtasks. They are sorted here, in groups of a few; the database would
    sort all of them by six columns."""
    if not asked:
        return
    wanted = {"request_ids": [request["id"] for request in asked]}
    read = read_together(connection, {"tasks": _TASKS, "subtasks": _SUBTASKS}, wanted)
    below = _group_by(read["subtasks"], "task_id")
    for found in below.values():
        found.sort(key=_by_age)
    stages = _group_by(read["tasks"], "request_id")
    for found in stages.values():
        found.sort(key=_by_wave)
        for task in found:
            task["subtasks"] = below.get(task["id"], [])
    for request in asked:
        request["tasks"] = stages.get(request["id"], [])


def _group_by(found: list[Row], name: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row[name], []).append(row)
    return groups


def _by_age(row: Row) -> tuple[int, str]:
    return row["created_ms"], row["id"]


def _by_wave(row: Row) -> tuple[int, int, str]:
    return row["wave_number"], row["created_ms"], row["id"]

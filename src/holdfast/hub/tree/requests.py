"""Requests: what a user asked for, in one session of one project. A project is also read as a tree
of requests, tasks and subtasks, in four queries whatever its size.
"""

from __future__ import annotations

from operator import itemgetter

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store import events
from holdfast.hub.store.rows import (
    Page,
    Row,
    fetch_page,
    first,
    matching,
    newest_first,
    rows,
    update,
)
from holdfast.hub.store.rows import get as get_row
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, projects, sessions, waves
from holdfast.hub.tree.statuses import end_time


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a request; create its session if it is new."""
    projects.get(connection, given["project_id"])
    row = {
        "id": ids.in_order(now_ms),
        "project_id": given["project_id"],
        "session_id": given["session_id"],
        "prompt": given["prompt"],
        "prompt_type": given.get("prompt_type", "other"),
        "metadata": given.get("metadata") or {},
        "created_ms": now_ms,
        **end_time(given.get("status", "active"), now_ms),
    }
    sessions.meet(connection, row["session_id"], row["project_id"], now_ms)
    connection.execute(sa.insert(requests), row)
    events.tell(connection, "request.created", row, "id", "status")
    return row


def get(connection: Connection, request_id: str) -> Row:
    return get_row(connection, requests, request_id, "Request")


def tasks_of(connection: Connection, request_id: str) -> list[Row]:
    query = sa.select(tasks).where(tasks.c.request_id == request_id)
    return rows(connection, query.order_by(tasks.c.wave_number, tasks.c.created_ms, tasks.c.id))


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    **wanted: str | None,
) -> Page:
    """List requests, newest first."""
    query = sa.select(requests).where(*matching(requests, **wanted))
    return fetch_page(connection, query.order_by(*newest_first(requests)), limit, offset)


def latest(connection: Connection, limit: int, offset: int = 0, **of: str) -> list[Row]:
    """Return the last requests of a project or a session, without counting the others."""
    query = sa.select(requests).where(*matching(requests, **of)).order_by(*newest_first(requests))
    return rows(connection, query.limit(limit).offset(offset))


def change(connection: Connection, request_id: str, given: Row, now_ms: int) -> Row:
    """Change the status, or add metadata, merged one level deep."""
    if not given:
        raise Refused("No update fields provided")
    place = get(connection, request_id)
    with waves.changing(connection, place["session_id"], place["project_id"]):
        mine = sa.select(requests).where(requests.c.id == request_id)
        before = first(connection, mine.with_for_update(key_share=True))
        if before is None:
            raise NotThere("Request")
        changes = end_time(given["status"], now_ms, before) if "status" in given else {}
        if "metadata" in given:
            changes["metadata"] = {**(before["metadata"] or {}), **(given["metadata"] or {})}
        update(connection, requests, request_id, changes)
    row = get(connection, request_id)  # it goes on while one of its tasks runs
    events.tell(connection, "request.changed", row, "id", "status")
    return row


def remove(connection: Connection, request_id: str, now_ms: int) -> None:
    """Delete the request with its tasks, their subtasks and their actions."""
    row = get(connection, request_id)
    below = subtasks.c.task_id.in_(sa.select(tasks.c.id).where(tasks.c.request_id == request_id))
    with (
        waves.changing(connection, row["session_id"], row["project_id"]),
        agent_contexts.following(connection, below, now_ms),
    ):
        connection.execute(sa.delete(requests).where(requests.c.id == request_id))
        events.tell(connection, "request.removed", row, "id", "status")


_IN_PAGE = tasks.c.request_id.in_(sa.bindparam("request_ids", expanding=True))
_TASKS = sa.select(tasks).where(_IN_PAGE)
_SUBTASKS = sa.select(subtasks).join_from(subtasks, tasks).where(_IN_PAGE)


def tree_page(connection: Connection, project_id: str, limit: int, offset: int, total: int) -> Page:
    """Return requests newest first, each with `tasks` by wave, each of these with `subtasks`,
    oldest first. They are sorted here, in groups of a few; the database would sort all of them by
    six columns."""
    asked = latest(connection, limit, offset, project_id=project_id)
    wanted = {"request_ids": [request["id"] for request in asked]}
    listed = rows(connection, _TASKS, wanted)
    parts = _group_by(rows(connection, _SUBTASKS, wanted), "task_id", "created_ms", "id")
    for task in listed:
        task["subtasks"] = parts.get(task["id"], [])
    stages = _group_by(listed, "request_id", "wave_number", "created_ms", "id")
    for request in asked:
        request["tasks"] = stages.get(request["id"], [])
    return Page(asked, total, limit, offset)


def _group_by(found: list[Row], name: str, *order: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row[name], []).append(row)
    for group in groups.values():
        group.sort(key=itemgetter(*order))
    return groups

"""Tasks: the stages of a request. Each belongs to a wave."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Page, Row, fetch_page, first, rows
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, projects, waves
from holdfast.hub.tree import requests as asked
from holdfast.hub.tree.statuses import derive_status, end_time

PLACE = (requests.c.project_id, requests.c.session_id)  # of the task's request
MOST_SUBTASKS = 1_000


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a task, in the wave after the last of its request unless a wave is given."""
    request = asked.get(connection, given["request_id"])
    waves.hold(connection, request["session_id"])
    number = given.get("wave_number")
    if number is None:
        number = _next_wave(connection, request["id"])
    row = {
        "id": ids.in_order(now_ms),
        "request_id": request["id"],
        "name": given.get("name") or f"Wave {number}",
        "wave_number": number,
        "created_ms": now_ms,
        **end_time(given.get("status", "pending"), now_ms),
    }
    connection.execute(sa.insert(tasks), row)
    projects.count(connection, request["project_id"], "tasks")
    _tell(connection, "task.created", row, request)
    waves.settle(connection, request["session_id"], request["project_id"], now_ms)
    return row


def get(connection: Connection, task_id: str) -> Row:
    return _find_with_place(connection, task_id)[0]


def get_with_place(connection: Connection, task_id: str) -> tuple[Row, Row]:
    """Return the task, and the project and session it belongs to; the error names a missing
    task."""
    try:
        return _find_with_place(connection, task_id)
    except NotThere as error:
        raise NotThere("Task", task_id) from error


def subtasks_of(connection: Connection, task_id: str) -> list[Row]:
    query = sa.select(subtasks).where(subtasks.c.task_id == task_id)
    oldest_first = query.order_by(subtasks.c.created_ms, subtasks.c.id)
    return rows(connection, oldest_first.limit(MOST_SUBTASKS))


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    request_id: str | None = None,
    status: str | None = None,
    session_id: str | None = None,
    project_id: str | None = None,
) -> Page:
    """List tasks: by wave within one request, else newest first."""
    wanted = {"request_id": request_id, "status": status}
    filters = [tasks.c[name] == value for name, value in wanted.items() if value is not None]
    place = {"session_id": session_id, "project_id": project_id}
    if any(place.values()):
        filters.append(tasks.c.id.in_(ids_where(**place)))
    query = sa.select(tasks).where(*filters)
    if request_id is not None:
        query = query.order_by(tasks.c.wave_number, tasks.c.created_ms, tasks.c.id)
    else:
        query = query.order_by(tasks.c.created_ms.desc(), tasks.c.id.desc())
    total = None if filters else pending_writes.stored_count(connection, "tasks")
    return fetch_page(connection, query, limit, offset, total=total)


def ids_where(**place: str | None) -> sa.Select[tuple[str]]:
    """Build the query for the tasks of this session's or project's requests."""
    filters = [requests.c[name] == value for name, value in place.items() if value is not None]
    return sa.select(tasks.c.id).join_from(tasks, requests).where(*filters)


def change(connection: Connection, task_id: str, given: Row, now_ms: int) -> Row:
    if not given:
        raise Refused("No update fields provided")
    before, place = _find_with_place(connection, task_id)
    waves.hold(connection, place["session_id"])
    changes: dict[str, Any] = {}
    if "status" in given:
        changes = end_time(given["status"], now_ms, before)
    if "name" in given:
        changes["name"] = given["name"]
    if "wave_number" in given:
        changes["wave_number"] = given["wave_number"]
    connection.execute(sa.update(tasks).where(tasks.c.id == task_id).values(changes))
    row = {**before, **changes}
    _tell(connection, "task.changed", row, place)
    waves.settle(connection, place["session_id"], place["project_id"], now_ms)
    return row


def follow(connection: Connection, task_id: str, now_ms: int, *, taken_up: bool = False) -> None:
    """After a subtask changed, set the status of its task and wave from the subtasks. Tasks that
    hooks report are left alone: there the end of the request ends its task. Call `waves.hold`
    first."""
    if ids.is_reported(task_id):
        return
    below = sa.select(subtasks.c.status).where(subtasks.c.task_id == task_id).distinct()
    before = get(connection, task_id)
    status = derive_status(before["status"], set(connection.scalars(below)), taken_up=taken_up)
    if status != before["status"]:
        change(connection, task_id, {"status": status}, now_ms)


def remove(connection: Connection, task_id: str, now_ms: int) -> None:
    """Delete the task with its subtasks and their actions."""
    row, place = _find_with_place(connection, task_id)
    waves.hold(connection, place["session_id"])
    agent_contexts.below(connection, place["project_id"], tasks.c.id == task_id, now_ms)
    _tell(connection, "task.removed", row, place)
    waves.settle(connection, place["session_id"], place["project_id"], now_ms)


def _find_with_place(connection: Connection, task_id: str) -> tuple[Row, Row]:
    query = sa.select(tasks, *PLACE).join_from(tasks, requests).where(tasks.c.id == task_id)
    found = first(connection, query)
    if found is None:
        raise NotThere("Task")
    place = {column.name: found.pop(column.name) for column in PLACE}
    return found, place


def _next_wave(connection: Connection, request_id: str) -> int:
    query = sa.select(sa.func.max(tasks.c.wave_number)).where(tasks.c.request_id == request_id)
    highest = connection.scalar(query)
    return 0 if highest is None else highest + 1


def _tell(connection: Connection, kind: str, row: Row, place: Row) -> None:
    body = {name: row[name] for name in ("id", "request_id", "wave_number", "status")}
    pending_writes.announce(
        connection, kind, body, project_id=place["project_id"], session_id=place["session_id"]
    )

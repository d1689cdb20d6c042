"""Tasks: the stages of a request. Each belongs to a wave."""

from __future__ import annotations

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
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, waves
from holdfast.hub.tree import requests as asked
from holdfast.hub.tree.statuses import derive_status, end_time

PLACE = (requests.c.project_id, requests.c.session_id)  # of the task's request
MOST_SUBTASKS = 1_000
TOLD = ("id", "request_id", "wave_number", "status")


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a task, in the wave after the last of its request unless a wave is given."""
    request = asked.get(connection, given["request_id"])
    place = {column.name: request[column.name] for column in PLACE}
    with waves.changing(connection, **place):
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
        events.tell(connection, "task.created", row, *TOLD, **place)
    return row


def get(connection: Connection, task_id: str) -> Row:
    return get_with_place(connection, task_id)[0]


def get_with_place(connection: Connection, task_id: str, which: str = "") -> tuple[Row, Row]:
    """Return the task, and the project and session it belongs to. `which`: for the error."""
    query = sa.select(tasks, *PLACE).join_from(tasks, requests).where(tasks.c.id == task_id)
    found = first(connection, query)
    if found is None:
        raise NotThere("Task", which)
    place = {column.name: found.pop(column.name) for column in PLACE}
    return found, place


def subtasks_of(connection: Connection, task_id: str) -> list[Row]:
    query = sa.select(subtasks).where(subtasks.c.task_id == task_id)
    oldest_first = query.order_by(subtasks.c.created_ms, subtasks.c.id)
    return rows(connection, oldest_first.limit(MOST_SUBTASKS))


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    session_id: str | None = None,
    project_id: str | None = None,
    **of: str | None,
) -> Page:
    """List tasks: by wave within one request, else newest first. `of` filters by columns."""
    wanted = matching(tasks, **of)
    if session_id is not None or project_id is not None:
        place = ids_where(session_id=session_id, project_id=project_id)
        wanted.append(tasks.c.id.in_(place))
    by_wave = (tasks.c.wave_number, tasks.c.created_ms, tasks.c.id)
    order = newest_first(tasks) if of.get("request_id") is None else by_wave
    return fetch_page(connection, sa.select(tasks).where(*wanted).order_by(*order), limit, offset)


def ids_where(**place: str | None) -> sa.Select[tuple[str]]:
    """Build the query for the tasks of this session's or project's requests."""
    wanted = matching(requests, **place)
    return sa.select(tasks.c.id).join_from(tasks, requests).where(*wanted)


def change(connection: Connection, task_id: str, given: Row, now_ms: int) -> Row:
    if not given:
        raise Refused("No update fields provided")
    place = get_with_place(connection, task_id)[1]
    with waves.changing(connection, **place):
        before = get(connection, task_id)
        more = end_time(given["status"], now_ms, before) if "status" in given else {}
        update(connection, tasks, task_id, {**given, **more})
    row = get(connection, task_id)  # it goes on while one of its subtasks runs
    events.tell(connection, "task.changed", row, *TOLD, **place)
    return row


def follow(connection: Connection, task_id: str, now_ms: int, *, taken_up: bool = False) -> None:
    """After a subtask changed, set the status of its task from the subtasks. A task that hooks
    report ends with its request. Call it within `waves.changing`."""
    before, place = get_with_place(connection, task_id)
    if ids.is_reported(task_id):
        return
    below = sa.select(subtasks.c.status).where(subtasks.c.task_id == task_id).distinct()
    status = derive_status(before["status"], set(connection.scalars(below)), taken_up=taken_up)
    if status != before["status"]:
        changes = end_time(status, now_ms, before)
        update(connection, tasks, task_id, changes)
        events.tell(connection, "task.changed", {**before, **changes}, *TOLD, **place)


def remove(connection: Connection, task_id: str, now_ms: int) -> None:
    """Delete the task with its subtasks and their actions."""
    row, place = get_with_place(connection, task_id)
    with (
        waves.changing(connection, **place),
        agent_contexts.following(connection, subtasks.c.task_id == task_id, now_ms),
    ):
        connection.execute(sa.delete(tasks).where(tasks.c.id == task_id))
        events.tell(connection, "task.removed", row, *TOLD, **place)


def _next_wave(connection: Connection, request_id: str) -> int:
    query = sa.select(sa.func.max(tasks.c.wave_number)).where(tasks.c.request_id == request_id)
    highest = connection.scalar(query)
    return 0 if highest is None else highest + 1

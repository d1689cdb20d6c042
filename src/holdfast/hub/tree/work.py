"""The tree of work: requests (what a user asked for, in one session of one project), their tasks
(each belongs to a wave), and subtasks (what one agent does for a task).
"""

from __future__ import annotations

from collections.abc import Iterable
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
    get,
    matching,
    newest_first,
    rows,
    update,
)
from holdfast.hub.store.tables import actions, requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, projects, sessions, waves
from holdfast.hub.tree.waves import UNDER_WAY, derive_status, end_time, times_after

MOST_BELOW = 1_000  # subtasks of a task, actions of a subtask
GIVEN = ("agent_type", "agent_id", "parent_agent_id", "max_turns")
TOLD_OF_REQUEST = ("id", "status")
TOLD_OF_TASK = ("id", "request_id", "wave_number", "status")
TOLD_OF_SUBTASK = ("id", "task_id", "agent_type", "agent_id", "status")
_PLACE = (requests.c.project_id, requests.c.session_id)  # of a task's request


def add_request(connection: Connection, given: Row, now_ms: int) -> Row:
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
    events.tell(connection, "request.created", row, *TOLD_OF_REQUEST)
    return row


def get_request(connection: Connection, request_id: str) -> Row:
    return get(connection, requests, request_id, "Request")


def list_requests(connection: Connection, limit: int, offset: int, **wanted: str | None) -> Page:
    """List requests, newest first."""
    query = sa.select(requests).where(*matching(requests, **wanted))
    return fetch_page(connection, query.order_by(*newest_first(requests)), limit, offset)


def latest_requests(connection: Connection, limit: int, offset: int = 0, **of: str) -> list[Row]:
    """Return the last requests of a project or a session, without counting the others."""
    query = sa.select(requests).where(*matching(requests, **of)).order_by(*newest_first(requests))
    return rows(connection, query.limit(limit).offset(offset))


def change_request(connection: Connection, request_id: str, given: Row, now_ms: int) -> Row:
    """Change the status, or add metadata, merged one level deep."""
    _must_change(given)
    place = get_request(connection, request_id)
    with waves.changing(connection, place["session_id"], place["project_id"]):
        before = get_request(connection, request_id)  # it may have changed while we waited
        changes = end_time(given["status"], now_ms, before) if "status" in given else {}
        if "metadata" in given:
            changes["metadata"] = {**(before["metadata"] or {}), **(given["metadata"] or {})}
        update(connection, requests, request_id, changes)
    row = get_request(connection, request_id)  # it goes on while one of its tasks runs
    events.tell(connection, "request.changed", row, *TOLD_OF_REQUEST)
    return row


def remove_request(connection: Connection, request_id: str, now_ms: int) -> None:
    """Delete the request with its tasks, their subtasks and their actions."""
    row = get_request(connection, request_id)
    below = subtasks.c.task_id.in_(sa.select(tasks.c.id).where(tasks.c.request_id == request_id))
    with (
        waves.changing(connection, row["session_id"], row["project_id"]),
        agent_contexts.following(connection, below, now_ms),
    ):
        connection.execute(sa.delete(requests).where(requests.c.id == request_id))
        events.tell(connection, "request.removed", row, *TOLD_OF_REQUEST)


def tree_page(connection: Connection, project_id: str, limit: int, offset: int, total: int) -> Page:
    """Return requests newest first, each with `tasks` by wave, each of these with `subtasks`,
    oldest first: three queries, whatever the size of the project."""
    asked = latest_requests(connection, limit, offset, project_id=project_id)
    in_page = tasks.c.request_id.in_([request["id"] for request in asked])
    listed = rows(connection, sa.select(tasks).where(in_page))
    parts = rows(connection, sa.select(subtasks).join_from(subtasks, tasks).where(in_page))
    below = _group_by(parts, "task_id", "created_ms", "id")
    for task in listed:
        task["subtasks"] = below.get(task["id"], [])
    stages = _group_by(listed, "request_id", "wave_number", "created_ms", "id")
    for request in asked:
        request["tasks"] = stages.get(request["id"], [])
    return Page(asked, total, limit, offset)


def _group_by(found: list[Row], name: str, *order: str) -> dict[str, list[Row]]:
    """Group rows and sort each group: the database would sort all of them by six columns."""
    groups: dict[str, list[Row]] = {}
    for row in sorted(found, key=itemgetter(*order)):
        groups.setdefault(row[name], []).append(row)
    return groups


def add_task(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a task, in the wave after the last of its request unless a wave is given."""
    request = get_request(connection, given["request_id"])
    place = {column.name: request[column.name] for column in _PLACE}
    with waves.changing(connection, **place):
        number = given.get("wave_number")
        if number is None:
            of_request = tasks.c.request_id == request["id"]
            highest = connection.scalar(
                sa.select(sa.func.max(tasks.c.wave_number)).where(of_request)
            )
            number = 0 if highest is None else highest + 1
        row = {
            "id": ids.in_order(now_ms),
            "request_id": request["id"],
            "name": given.get("name") or f"Wave {number}",
            "wave_number": number,
            "created_ms": now_ms,
            **end_time(given.get("status", "pending"), now_ms),
        }
        connection.execute(sa.insert(tasks), row)
        events.tell(connection, "task.created", row, *TOLD_OF_TASK, **place)
    return row


def get_task(connection: Connection, task_id: str) -> Row:
    return get(connection, tasks, task_id, "Task")


def _placed_task(connection: Connection, task_id: str, which: str = "") -> tuple[Row, Row]:
    """Return the task, and the project and session it belongs to. `which`: for the error."""
    query = sa.select(tasks, *_PLACE).join_from(tasks, requests).where(tasks.c.id == task_id)
    found = first(connection, query)
    if found is None:
        raise NotThere("Task", which)
    place = {column.name: found.pop(column.name) for column in _PLACE}
    return found, place


def list_tasks(
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
        wanted.append(tasks.c.id.in_(_tasks_in(session_id=session_id, project_id=project_id)))
    by_wave = (tasks.c.wave_number, tasks.c.created_ms, tasks.c.id)
    order = newest_first(tasks) if of.get("request_id") is None else by_wave
    return fetch_page(connection, sa.select(tasks).where(*wanted).order_by(*order), limit, offset)


def tasks_of(connection: Connection, request_id: str) -> list[Row]:
    query = sa.select(tasks).where(tasks.c.request_id == request_id)
    return rows(connection, query.order_by(tasks.c.wave_number, tasks.c.created_ms, tasks.c.id))


def _tasks_in(**place: str | None) -> sa.Select[tuple[str]]:
    """Build the query for the tasks of this session's or project's requests."""
    return sa.select(tasks.c.id).join_from(tasks, requests).where(*matching(requests, **place))


def change_task(connection: Connection, task_id: str, given: Row, now_ms: int) -> Row:
    _must_change(given)
    _, place = _placed_task(connection, task_id)
    with waves.changing(connection, **place):
        before = get_task(connection, task_id)
        more = end_time(given["status"], now_ms, before) if "status" in given else {}
        update(connection, tasks, task_id, {**given, **more})
    row = get_task(connection, task_id)  # it goes on while one of its subtasks runs
    events.tell(connection, "task.changed", row, *TOLD_OF_TASK, **place)
    return row


def _follow_subtasks(connection: Connection, task_id: str, now_ms: int) -> None:
    """After a subtask changed, set the status of its task from the subtasks. A task that hooks
    report ends with its request. Call it within `waves.changing`."""
    if ids.is_reported(task_id):
        return
    before, place = _placed_task(connection, task_id)
    below = sa.select(subtasks.c.status).where(subtasks.c.task_id == task_id).distinct()
    status = derive_status(before["status"], set(connection.scalars(below)))
    if status != before["status"]:
        changes = end_time(status, now_ms, before)
        update(connection, tasks, task_id, changes)
        events.tell(connection, "task.changed", {**before, **changes}, *TOLD_OF_TASK, **place)


def remove_task(connection: Connection, task_id: str, now_ms: int) -> None:
    """Delete the task with its subtasks and their actions."""
    row, place = _placed_task(connection, task_id)
    with (
        waves.changing(connection, **place),
        agent_contexts.following(connection, subtasks.c.task_id == task_id, now_ms),
    ):
        connection.execute(sa.delete(tasks).where(tasks.c.id == task_id))
        events.tell(connection, "task.removed", row, *TOLD_OF_TASK, **place)


def add_subtask(connection: Connection, given: Row, now_ms: int) -> Row:
    _, place = _placed_task(connection, given["task_id"], given["task_id"])
    _must_exist(connection, given.get("blocked_by", []))
    with waves.changing(connection, **place):
        row = {
            "id": ids.in_order(now_ms),
            "task_id": given["task_id"],
            "session_id": place["session_id"],
            "description": given["description"],
            **{name: given.get(name) for name in GIVEN},
            "blocked_by": given.get("blocked_by", []),
            "context_snapshot": given.get("context_snapshot"),
            "result": None,
            "created_ms": now_ms,
            **times_after(given.get("status", "pending"), now_ms),
        }
        connection.execute(sa.insert(subtasks), row)
        _follow_agents(connection, [row], now_ms)
        project_id = place["project_id"]
        events.tell(connection, "subtask.created", row, *TOLD_OF_SUBTASK, project_id=project_id)
        _follow_subtasks(connection, row["task_id"], now_ms)
    return row


def get_subtask(connection: Connection, subtask_id: str) -> Row:
    return get(connection, subtasks, subtask_id, "Subtask")


def _placed_subtask(connection: Connection, subtask_id: str) -> tuple[Row, str]:
    """Return the subtask and the project it belongs to."""
    found = first(connection, _PLACED.where(subtasks.c.id == subtask_id))
    if found is None:
        raise NotThere("Subtask")
    return found, found.pop("project_id")


_PLACED = sa.select(subtasks, requests.c.project_id).select_from(
    subtasks.join(tasks).join(requests)
)


def list_subtasks(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    is_subagent: bool | None = None,
    **of: str | None,
) -> Page:
    """List subtasks, newest first; oldest first within one task. `of` filters by columns."""
    wanted = matching(subtasks, **of)
    if is_subagent is not None:
        parent = subtasks.c.parent_agent_id
        wanted.append(parent.is_not(None) if is_subagent else parent.is_(None))
    if project_id is not None:
        wanted.append(subtasks.c.task_id.in_(_tasks_in(project_id=project_id)))
    oldest_first = (subtasks.c.created_ms, subtasks.c.id)
    order = newest_first(subtasks) if of.get("task_id") is None else oldest_first
    query = sa.select(subtasks).where(*wanted).order_by(*order)
    return fetch_page(connection, query, limit, offset)


def subtasks_of(connection: Connection, task_id: str) -> list[Row]:
    return _oldest(connection, subtasks, subtasks.c.task_id == task_id)


def actions_of(connection: Connection, subtask_id: str) -> list[Row]:
    return _oldest(connection, actions, actions.c.subtask_id == subtask_id)


def _oldest(connection: Connection, table: sa.Table, mine: sa.ColumnElement[bool]) -> list[Row]:
    query = sa.select(table).where(mine).order_by(table.c.created_ms, table.c.id)
    return rows(connection, query.limit(MOST_BELOW))


def change_subtask(connection: Connection, subtask_id: str, given: Row, now_ms: int) -> Row:
    _must_change(given)
    before, project_id = _placed_subtask(connection, subtask_id)
    if subtask_id in given.get("blocked_by", []):
        raise Refused("A subtask cannot block itself", "blocked_by")
    _must_exist(connection, given.get("blocked_by", []))
    with waves.changing(connection, before["session_id"], project_id):
        before = get_subtask(connection, subtask_id)  # it may have changed while we waited
        times = times_after(given["status"], now_ms, before) if "status" in given else {}
        changes = {**given, **times}
        update(connection, subtasks, subtask_id, changes)
        row = {**before, **changes}
        _follow_agents(connection, [before, row], now_ms)
        events.tell(connection, "subtask.changed", row, *TOLD_OF_SUBTASK, project_id=project_id)
        if row["status"] != before["status"]:
            _follow_subtasks(connection, row["task_id"], now_ms)
    return row


def close_session(connection: Connection, session_id: str, now_ms: int) -> int:
    """Mark the running subtasks of an ended session as not completed; return how many there
    were."""
    left = _PLACED.where(subtasks.c.session_id == session_id, subtasks.c.status.in_(UNDER_WAY))
    place = first(connection, left)
    if place is None:
        return 0
    with waves.changing(connection, session_id, place["project_id"]):
        found = rows(connection, left)
        for row in found:
            row |= times_after("failed", now_ms, row)
            row["result"] = {**(row["result"] or {}), "reason": "session_ended"}
            changes = {name: row[name] for name in ("status", "completed_ms", "result")}
            update(connection, subtasks, row["id"], changes)
            events.tell(connection, "subtask.changed", row, *TOLD_OF_SUBTASK)
        _follow_agents(connection, found, now_ms)
        for task_id in sorted({row["task_id"] for row in found}):
            _follow_subtasks(connection, task_id, now_ms)
    return len(found)


def remove_subtask(connection: Connection, subtask_id: str, now_ms: int) -> None:
    """Delete the subtask with its actions."""
    row, project_id = _placed_subtask(connection, subtask_id)
    with waves.changing(connection, row["session_id"], project_id):
        with agent_contexts.following(connection, subtasks.c.id == subtask_id, now_ms):
            connection.execute(sa.delete(subtasks).where(subtasks.c.id == subtask_id))
        events.tell(connection, "subtask.removed", row, *TOLD_OF_SUBTASK, project_id=project_id)
        _follow_subtasks(connection, row["task_id"], now_ms)


def _must_change(given: Row) -> None:
    if not given:
        raise Refused("No update fields provided")


def _must_exist(connection: Connection, blockers: list[str]) -> None:
    wanted = set(blockers)
    query = sa.select(sa.func.count()).where(subtasks.c.id.in_(wanted))
    if wanted and connection.scalar(query) != len(wanted):
        raise Refused("One or more blocking subtask IDs not found", "blocked_by")


def _follow_agents(connection: Connection, found: Iterable[Row], now_ms: int) -> None:
    """Update the contexts of the agents of these subtasks."""
    agents = {(row["session_id"], row["agent_id"]) for row in found if row["agent_id"] is not None}
    for session_id, agent_id in sorted(agents):
        agent_contexts.follow(connection, session_id, agent_id, now_ms)

"""The tree of work: requests (what a user asked for, in one session of one project), their tasks
(each belongs to a wave), and subtasks (what one agent does for a task).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import actions, projects, requests, subtasks, tasks
from holdfast.hub.tree import contexts, sessions, waves
from holdfast.hub.tree.waves import UNDER_WAY, derive_status, times_after

MOST_BELOW = 1_000  # subtasks of a task, actions of a subtask
GIVEN = ("agent_type", "agent_id", "parent_agent_id", "max_turns", "context_snapshot")
TOLD = {
    requests: ("id", "status"),
    tasks: ("id", "request_id", "wave_number", "status"),
    subtasks: ("id", "task_id", "agent_type", "agent_id", "status"),
}
_IN_REQUEST = tasks.join(requests)
_BY_WAVE = (tasks.c.wave_number, tasks.c.created_ms, tasks.c.id)
_OF_PROJECT = sa.select(subtasks, requests.c.project_id).select_from(subtasks.join(_IN_REQUEST))
_PLACED = {
    requests: sa.select(requests),
    tasks: sa.select(tasks, requests.c.project_id, requests.c.session_id).select_from(_IN_REQUEST),
    subtasks: _OF_PROJECT,
}

get_request = partial(db.get, table=requests)
get_task = partial(db.get, table=tasks)
get_subtask = partial(db.get, table=subtasks)
list_requests = partial(db.page, table=requests)


def _get_placed(connection: Connection, table: sa.Table, row_id: str, which: str = "") -> Row:
    """Return a row with the project and the session it belongs to. `which`: for the error."""
    row = db.first(connection, _PLACED[table].where(table.c.id == row_id))
    if row is None:
        raise NotThere(db.noun_of(table), which)
    return row


def _tell(connection: Connection, table: sa.Table, what: str, row: Row, place: Row) -> Row:
    """Announce what happened to a row, in the project and the session of `place`."""
    where = {name: place[name] for name in ("project_id", "session_id")}
    kind = f"{db.noun_of(table).lower()}.{what}"
    return db.tell(connection, kind, row, *TOLD[table], **where)


def add_request(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a request; create its session if it is new."""
    db.get(connection, given["project_id"], table=projects)
    row = {
        "id": ids.in_order(now_ms),
        "prompt_type": "other",
        **given,
        "metadata": given.get("metadata") or {},
        "created_ms": now_ms,
        **times_after(given.get("status", "active"), now_ms, requests),
    }
    sessions.meet(connection, row["session_id"], row["project_id"], now_ms)
    connection.execute(sa.insert(requests), row)
    return _tell(connection, requests, "created", row, row)


def add_task(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a task, in the wave after the last of its request unless a wave is given."""
    request = get_request(connection, given["request_id"])
    with waves.changing(connection, request["session_id"], request["project_id"]):
        number = given.get("wave_number")
        if number is None:
            highest = sa.select(sa.func.max(tasks.c.wave_number))
            last = connection.scalar(highest.where(tasks.c.request_id == request["id"]))
            number = 0 if last is None else last + 1
        row = {
            "id": ids.in_order(now_ms),
            "request_id": request["id"],
            "name": given.get("name") or f"Wave {number}",
            "wave_number": number,
            "created_ms": now_ms,
            **times_after(given.get("status", "pending"), now_ms, tasks),
        }
        connection.execute(sa.insert(tasks), row)
        return _tell(connection, tasks, "created", row, request)


def add_subtask(connection: Connection, given: Row, now_ms: int) -> Row:
    place = _get_placed(connection, tasks, given["task_id"], given["task_id"])
    _check_blockers(connection, given)
    with waves.changing(connection, place["session_id"], place["project_id"]):
        row = {
            **dict.fromkeys(GIVEN),
            "blocked_by": [],
            **given,
            "id": ids.in_order(now_ms),
            "session_id": place["session_id"],
            "result": None,
            "created_ms": now_ms,
            **times_after(given.get("status", "pending"), now_ms, subtasks),
        }
        connection.execute(sa.insert(subtasks), row)
        _follow_agents(connection, [row], now_ms)
        _tell(connection, subtasks, "created", row, place)
        _follow_subtasks(connection, row["task_id"], now_ms)
    return row


def _change(connection: Connection, row_id: str, given: Row, now_ms: int, table: sa.Table) -> Row:
    """Change a row; metadata is merged one level deep. Times follow the status."""
    if not given:
        raise Refused("No update fields provided")
    place = _get_placed(connection, table, row_id)
    if row_id in given.get("blocked_by", ()):
        raise Refused("A subtask cannot block itself", "blocked_by")
    _check_blockers(connection, given)
    with waves.changing(connection, place["session_id"], place["project_id"]):
        before = db.get(connection, row_id, table=table)  # it may have changed while we waited
        changes = dict(given)
        if "status" in given:
            changes |= times_after(given["status"], now_ms, table, before)
        if "metadata" in given:
            changes["metadata"] = {**(before["metadata"] or {}), **given["metadata"]}
        db.update(connection, table, row_id, changes)
        row = {**before, **changes}
        if table is subtasks:
            _follow_agents(connection, [before, row], now_ms)
            _tell(connection, subtasks, "changed", row, place)
            if row["status"] != before["status"]:
                _follow_subtasks(connection, row["task_id"], now_ms)
    if table is not subtasks:
        row = db.get(connection, row_id, table=table)  # it goes on while something runs below it
        _tell(connection, table, "changed", row, place)
    return row


def _remove(connection: Connection, row_id: str, now_ms: int, *, table: sa.Table) -> None:
    """Delete a row with everything below it."""
    row = _get_placed(connection, table, row_id)
    below = {
        requests: subtasks.c.task_id.in_(sa.select(tasks.c.id).where(tasks.c.request_id == row_id)),
        tasks: subtasks.c.task_id == row_id,
        subtasks: subtasks.c.id == row_id,
    }
    with waves.changing(connection, row["session_id"], row["project_id"]):
        going = db.fetch(connection, subtasks, below[table])
        connection.execute(sa.delete(table).where(table.c.id == row_id))
        _follow_agents(connection, going, now_ms)
        _tell(connection, table, "removed", row, row)
        if table is subtasks:
            _follow_subtasks(connection, row["task_id"], now_ms)


change_request, remove_request = partial(_change, table=requests), partial(_remove, table=requests)
change_task, remove_task = partial(_change, table=tasks), partial(_remove, table=tasks)
change_subtask, remove_subtask = partial(_change, table=subtasks), partial(_remove, table=subtasks)


def latest_requests(connection: Connection, limit: int, offset: int = 0, **of: str) -> list[Row]:
    """Return the last requests of a project or a session, without counting the others."""
    mine, order = db.matching(requests, **of), db.newest_first(requests)
    return db.fetch(connection, requests, *mine, order=order, most=limit, start=offset)


def tree_page(connection: Connection, project_id: str, limit: int, offset: int, total: int) -> Page:
    """Return requests newest first, with their tasks and subtasks, by three queries."""
    asked = latest_requests(connection, limit, offset, project_id=project_id)
    in_page = tasks.c.request_id.in_([request["id"] for request in asked])
    listed = db.fetch(connection, tasks, in_page)
    parts = db.rows(connection, sa.select(subtasks).join_from(subtasks, tasks).where(in_page))
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


def list_tasks(connection: Connection, limit: int, offset: int, **of: Any) -> Page:
    """List tasks: by wave within one request, else newest first."""
    order = db.newest_first(tasks) if of.get("request_id") is None else _BY_WAVE
    return db.page(connection, limit, offset, table=tasks, order=order, **of)


def list_subtasks(
    connection: Connection, limit: int, offset: int, *, is_subagent: bool | None = None, **of: Any
) -> Page:
    """List subtasks, newest first; oldest first within one task."""
    parent = subtasks.c.parent_agent_id
    kinds = {True: [parent.is_not(None)], False: [parent.is_(None)], None: []}
    order = db.newest_first(subtasks) if of.get("task_id") is None else db.oldest_first(subtasks)
    where = kinds[is_subagent]
    return db.page(connection, limit, offset, table=subtasks, order=order, where=where, **of)


def tasks_of(connection: Connection, request_id: str) -> list[Row]:
    return db.fetch(connection, tasks, tasks.c.request_id == request_id, order=_BY_WAVE)


def subtasks_of(connection: Connection, task_id: str) -> list[Row]:
    mine, order = subtasks.c.task_id == task_id, db.oldest_first(subtasks)
    return db.fetch(connection, subtasks, mine, order=order, most=MOST_BELOW)


def actions_of(connection: Connection, subtask_id: str) -> list[Row]:
    mine, order = actions.c.subtask_id == subtask_id, db.oldest_first(actions)
    return db.fetch(connection, actions, mine, order=order, most=MOST_BELOW)


def _follow_subtasks(connection: Connection, task_id: str, now_ms: int) -> None:
    """After a subtask changed, set the status of its task from the subtasks. A task that hooks
    report ends with its request. Call it within `waves.changing`."""
    if ids.is_reported(task_id):
        return
    before = _get_placed(connection, tasks, task_id)
    below = sa.select(subtasks.c.status).where(subtasks.c.task_id == task_id).distinct()
    status = derive_status(before["status"], set(connection.scalars(below)))
    if status != before["status"]:
        changes = times_after(status, now_ms, tasks, before)
        db.update(connection, tasks, task_id, changes)
        _tell(connection, tasks, "changed", {**before, **changes}, before)


def close_session(connection: Connection, session_id: str, now_ms: int) -> int:
    """Mark the running subtasks of an ended session as failed; return their number."""
    mine = (subtasks.c.session_id == session_id) & subtasks.c.status.in_(UNDER_WAY)
    left = _OF_PROJECT.where(mine)
    place = db.first(connection, left)
    if place is None:
        return 0
    with waves.changing(connection, session_id, place["project_id"]):
        found = db.rows(connection, left)
        for row in found:
            changes = times_after("failed", now_ms, subtasks, row)
            changes["result"] = {**(row["result"] or {}), "reason": "session_ended"}
            row |= changes
            db.update(connection, subtasks, row["id"], changes)
            _tell(connection, subtasks, "changed", row, row)
        _follow_agents(connection, found, now_ms)
        for task_id in sorted({row["task_id"] for row in found}):
            _follow_subtasks(connection, task_id, now_ms)
    return len(found)


def _check_blockers(connection: Connection, given: Row) -> None:
    wanted = set(given.get("blocked_by", ()))
    query = sa.select(sa.func.count()).where(subtasks.c.id.in_(wanted))
    if wanted and connection.scalar(query) != len(wanted):
        raise Refused("One or more blocking subtask IDs not found", "blocked_by")


def _follow_agents(connection: Connection, found: Iterable[Row], now_ms: int) -> None:
    """Update the contexts of the agents of these subtasks."""
    agents = {(row["session_id"], row["agent_id"]) for row in found if row["agent_id"] is not None}
    for session_id, agent_id in sorted(agents):
        contexts.follow(connection, session_id, agent_id, now_ms)

"""Subtasks: what one agent does for a task."""

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
from holdfast.hub.store.tables import actions, requests, subtasks, tasks
from holdfast.hub.tree import agent_contexts, waves
from holdfast.hub.tree import tasks as stages
from holdfast.hub.tree.statuses import ENDED, UNDER_WAY, times_after

MOST_ACTIONS = 1_000
GIVEN = ("agent_type", "agent_id", "parent_agent_id", "max_turns")
TOLD = ("id", "task_id", "agent_type", "agent_id", "status")


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    _task, place = stages.get_with_place(connection, given["task_id"], given["task_id"])
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
        _follow(connection, row, now_ms)
        events.tell(connection, "subtask.created", row, *TOLD, project_id=place["project_id"])
        stages.follow(connection, row["task_id"], now_ms, taken_up=row["status"] not in ENDED)
    return row


def get(connection: Connection, subtask_id: str) -> Row:
    return _with_project(connection, subtask_id)[0]


def actions_of(connection: Connection, subtask_id: str) -> list[Row]:
    """List the actions of a subtask, oldest first."""
    query = sa.select(actions).where(actions.c.subtask_id == subtask_id)
    return rows(connection, query.order_by(actions.c.created_ms, actions.c.id).limit(MOST_ACTIONS))


def list_page(
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
        wanted.append(subtasks.c.task_id.in_(stages.ids_where(project_id=project_id)))
    oldest_first = (subtasks.c.created_ms, subtasks.c.id)
    order = newest_first(subtasks) if of.get("task_id") is None else oldest_first
    query = sa.select(subtasks).where(*wanted).order_by(*order)
    return fetch_page(connection, query, limit, offset)


def change(connection: Connection, subtask_id: str, given: Row, now_ms: int) -> Row:
    if not given:
        raise Refused("No update fields provided")
    before, project_id = _with_project(connection, subtask_id)
    if subtask_id in given.get("blocked_by", []):
        raise Refused("A subtask cannot block itself", "blocked_by")
    _must_exist(connection, given.get("blocked_by", []))
    with waves.changing(connection, before["session_id"], project_id):
        before, _ = _with_project(connection, subtask_id)  # it may have changed while we waited
        times = times_after(given["status"], now_ms, before) if "status" in given else {}
        changes = {**given, **times}
        update(connection, subtasks, subtask_id, changes)
        row = {**before, **changes}
        if row["agent_id"] != before["agent_id"]:
            _follow(connection, before, now_ms)
        _follow(connection, row, now_ms)
        events.tell(connection, "subtask.changed", row, *TOLD, project_id=project_id)
        if row["status"] != before["status"]:
            taken_up = before["status"] in ENDED and row["status"] not in ENDED
            stages.follow(connection, row["task_id"], now_ms, taken_up=taken_up)
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
            events.tell(connection, "subtask.changed", row, *TOLD)
        for agent_id in {row["agent_id"] for row in found if row["agent_id"] is not None}:
            agent_contexts.follow(connection, session_id, agent_id, now_ms)
        for task_id in sorted({row["task_id"] for row in found}):
            stages.follow(connection, task_id, now_ms)
    return len(found)


def remove(connection: Connection, subtask_id: str, now_ms: int) -> None:
    """Delete the subtask with its actions."""
    row, project_id = _with_project(connection, subtask_id)
    with waves.changing(connection, row["session_id"], project_id):
        with agent_contexts.following(connection, subtasks.c.id == subtask_id, now_ms):
            connection.execute(sa.delete(subtasks).where(subtasks.c.id == subtask_id))
        events.tell(connection, "subtask.removed", row, *TOLD, project_id=project_id)
        stages.follow(connection, row["task_id"], now_ms)


def _with_project(connection: Connection, subtask_id: str) -> tuple[Row, str]:
    """Return the subtask and the project it belongs to."""
    found = first(connection, _PLACED.where(subtasks.c.id == subtask_id))
    if found is None:
        raise NotThere("Subtask")
    return found, found.pop("project_id")


_PLACED = sa.select(subtasks, requests.c.project_id).select_from(
    subtasks.join(tasks).join(requests)
)


def _must_exist(connection: Connection, blockers: list[str]) -> None:
    if not blockers:
        return
    query = sa.select(sa.func.count()).where(subtasks.c.id.in_(set(blockers)))
    if connection.scalar(query) != len(set(blockers)):
        raise Refused("One or more blocking subtask IDs not found", "blocked_by")


def _follow(connection: Connection, row: Row, now_ms: int) -> None:
    if row["agent_id"] is not None:
        agent_contexts.follow(connection, row["session_id"], row["agent_id"], now_ms)

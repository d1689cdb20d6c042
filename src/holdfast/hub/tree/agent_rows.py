"""The row an agent has while it is at work: about its newest subtask that is not over."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import derived_ids, row_times
from holdfast.hub.store.rows import Row, first
from holdfast.hub.store.tables import agent_contexts, requests, subtasks, tasks
from holdfast.hub.store.upsert import upsert
from holdfast.hub.tree.statuses import ENDED


def follow(connection: Connection, session_id: str, agent_id: str, now_ms: int) -> None:
    """After one of its subtasks changed: the row says so, or goes with the last of them."""
    row_id = derived_ids.context_id(session_id, agent_id)
    subtask = _at_work_on(connection, session_id, agent_id)
    if subtask is None:
        connection.execute(sa.delete(agent_contexts).where(agent_contexts.c.id == row_id))
        return
    known = {
        "project_id": subtask["project_id"],
        "agent_type": subtask["agent_type"],
        "status": subtask["status"],
        "role_context": _role(subtask),
        "progress_summary": subtask["description"],
        "updated_ms": now_ms,
    }
    row = {
        "id": row_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "skills_to_restore": [],
        "tools_used": [],
        **known,
    }
    connection.execute(upsert(connection, agent_contexts, ["id"], row, known))


def _at_work_on(connection: Connection, session_id: str, agent_id: str) -> Row | None:
    query = (
        sa.select(subtasks, requests.c.project_id)
        .select_from(subtasks.join(tasks).join(requests))
        .where(
            subtasks.c.agent_id == agent_id,
            subtasks.c.session_id == session_id,
            subtasks.c.agent_type.is_not(None),
            subtasks.c.status.not_in(ENDED),
        )
        .order_by(
            (subtasks.c.status == "running").desc(),
            subtasks.c.created_ms.desc(),
            subtasks.c.id.desc(),
        )
        .limit(1)
    )
    return first(connection, query)


def _role(subtask: Row) -> Row:
    return {
        "status": subtask["status"],
        "session_id": subtask["session_id"],
        "subtask_id": subtask["id"],
        "task_list_id": subtask["task_id"],
        "task_description": subtask["description"],
        "parent_agent_id": subtask["parent_agent_id"],
        "spawned_at": row_times.written(subtask["created_ms"]),
        "blocked_by": subtask["blocked_by"] or [],
    }

"""What is known of each agent. While an agent works, its row follows its newest open subtask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.errors import NotThere
from holdfast.hub.store import events
from holdfast.hub.store.rows import Page, Row, fetch_page, first, matching, rows, update, upsert
from holdfast.hub.store.tables import agent_contexts, requests, subtasks, tasks
from holdfast.hub.tree.snapshots import SNAPSHOT, with_public_trigger
from holdfast.hub.tree.waves import ENDED


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    agent_id: str | None = None,
    **of: str | None,
) -> Page:
    """List contexts, newest first; `of` filters by other columns. A snapshot is also found by the
    id of its session."""
    table = agent_contexts.c
    query = sa.select(agent_contexts).order_by(table.updated_ms.desc(), table.id)
    if agent_id is not None:
        snapshot = (table.agent_type == SNAPSHOT) & (table.session_id == agent_id)
        query = query.where((table.agent_id == agent_id) | snapshot)
    page = fetch_page(connection, query.where(*matching(agent_contexts, **of)), limit, offset)
    for row in page.rows:
        if row["agent_type"] == SNAPSHOT:
            row["role_context"] = with_public_trigger(row["role_context"])
    return page


def figures(connection: Connection) -> dict[str, Any]:
    """Count contexts, in total and by type and status."""
    of_type = _count_by(connection, agent_contexts.c.agent_type)
    of_status = _count_by(connection, agent_contexts.c.status)
    most_first = sorted(of_type.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "stats": {
            "total": sum(of_type.values()),
            "unique_types": len(of_type),
            **{name: of_status.get(name, 0) for name in ("running", "completed", "failed")},
        },
        "type_distribution": [{"agent_type": name, "count": n} for name, n in most_first],
    }


def tools_used(connection: Connection) -> dict[str, int]:
    """Count for each tool the contexts that used it."""
    query = sa.select(agent_contexts.c.tools_used).order_by(agent_contexts.c.updated_ms.desc())
    found: dict[str, int] = {}
    for row in rows(connection, query.limit(1000)):
        for tool in row["tools_used"] or ():
            found[str(tool)] = found.get(str(tool), 0) + 1
    return found


def _count_by(connection: Connection, column: sa.Column[Any]) -> dict[str, int]:
    query = sa.select(column, sa.func.count()).group_by(column)
    return {str(name): int(n) for name, n in connection.execute(query) if name is not None}


def follow(connection: Connection, session_id: str, agent_id: str, now_ms: int) -> None:
    """Update the agent's row after one of its subtasks changed; delete it with the last of them.
    What the agent reported itself stays until it works on something else."""
    row_id = ids.context_id(session_id, agent_id)
    subtask = _at_work_on(connection, session_id, agent_id)
    if subtask is None:
        connection.execute(sa.delete(agent_contexts).where(agent_contexts.c.id == row_id))
        return
    held = _locked(connection, row_id) or {}
    before = held.get("role_context") or {}
    is_new = before.get("subtask_id") != subtask["id"]
    if is_new:
        before = {name: value for name, value in before.items() if name not in REPORTED}
    known = {
        "project_id": subtask["project_id"],
        "agent_type": subtask["agent_type"],
        "status": subtask["status"],
        "role_context": {**before, **_role(connection, subtask)},
        "progress_summary": None if is_new else held["progress_summary"],
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


def _locked(connection: Connection, row_id: str) -> Row | None:
    mine = sa.select(agent_contexts).where(agent_contexts.c.id == row_id)
    return first(connection, mine.with_for_update(key_share=True))


def _at_work_on(connection: Connection, session_id: str, agent_id: str) -> Row | None:
    table = subtasks.c
    query = sa.select(subtasks, requests.c.project_id)
    query = query.select_from(subtasks.join(tasks).join(requests)).where(
        table.agent_id == agent_id,
        table.session_id == session_id,
        table.agent_type.is_not(None),
        table.status.not_in(ENDED),
    )
    order = ((table.status == "running").desc(), table.created_ms.desc(), table.id.desc())
    return first(connection, query.order_by(*order).limit(1))


def _role(connection: Connection, subtask: Row) -> Row:
    return {
        "status": subtask["status"],
        "session_id": subtask["session_id"],
        "subtask_id": subtask["id"],
        "task_list_id": subtask["task_id"],
        "task_description": subtask["description"],
        "current_task": subtask["description"],
        "parent_agent_id": subtask["parent_agent_id"],
        "spawned_at": row_times.to_iso(subtask["started_ms"] or subtask["created_ms"]),
        "blocked_by": subtask["blocked_by"] or [],
        "blockers": _names(connection, subtask["blocked_by"] or []),
    }


def _names(connection: Connection, subtask_ids: Sequence[str]) -> list[str]:
    """Return what these subtasks are about: an id says nothing to who waits for it."""
    if not subtask_ids:
        return []
    query = sa.select(subtasks.c.description).where(subtasks.c.id.in_(subtask_ids))
    return [row["description"] for row in rows(connection, query.order_by(subtasks.c.created_ms))]


REPORTED = ("progress", "next_steps")  # of one task
ABOUT = ("language", "framework")  # of the agent, whatever it works on


def report(connection: Connection, context_id: str, given: Row, now_ms: int) -> Row:
    """Note what an agent reports of itself and its work, and `progress_summary`."""
    before = _locked(connection, context_id)
    if before is None:
        raise NotThere("Agent context")
    told = {name: given[name] for name in (*REPORTED, *ABOUT) if name in given}
    changes = {
        "role_context": {**(before["role_context"] or {}), **told},
        "progress_summary": given.get("progress_summary", before["progress_summary"]),
        "updated_ms": now_ms,
    }
    update(connection, agent_contexts, context_id, changes)
    place = {"project_id": before["project_id"], "session_id": before["session_id"]}
    events.announce(connection, "agent.progress", {"agent_id": before["agent_id"], **told}, **place)
    return {**before, **changes}


MOST_TOOLS, MOST_SKILLS = 200, 50


def note_call(connection: Connection, action: Row, agent_id: str) -> None:
    """Count a posted tool call in the row of its agent, if that has one."""
    row = _locked(connection, ids.context_id(action["session_id"], agent_id))
    if row is None:
        return
    changes = count_tool(row, action["tool_name"], 1)
    if action["tool_type"] == "skill":
        changes["skills_to_restore"] = add_skills(row, [action["tool_name"]])
    update(connection, agent_contexts, row["id"], changes)


def count_tool(row: Row, tool: str, more: int) -> Row:
    """Return the changes after so many calls: the calls of each tool, and the tools, the most used
    first."""
    role = row["role_context"] or {}
    counts = {**role.get("tool_counts", {})}
    counts[tool] = counts.get(tool, 0) + more
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kept = {name: n for name, n in ranked[:MOST_TOOLS] if n > 0}
    return {"role_context": {**role, "tool_counts": kept}, "tools_used": list(kept)}


def add_skills(row: Row, used: Sequence[str]) -> list[str]:
    """Return the skills of an agent, the last used one last."""
    known = [skill for skill in row["skills_to_restore"] or [] if skill not in used]
    return [*known, *list(dict.fromkeys(reversed(used)))[::-1]][-MOST_SKILLS:]


@contextmanager
def following(
    connection: Connection, which_subtasks: sa.ColumnElement[bool], now_ms: int
) -> Iterator[None]:
    """Update the rows of the agents of these subtasks, which are deleted meanwhile."""
    agent = sa.select(subtasks.c.session_id, subtasks.c.agent_id).distinct()
    agents = connection.execute(agent.where(which_subtasks, subtasks.c.agent_id.is_not(None))).all()
    yield
    for session_id, agent_id in agents:
        follow(connection, session_id, agent_id, now_ms)

"""Snapshots through the API: save, look up, and restore as a brief. Found by the exact session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.checkpoint.snapshot_form import task_id, without_repeats
from holdfast.hub.store import ids, pending_writes
from holdfast.hub.store.rows import Row, first
from holdfast.hub.store.tables import agent_contexts, requests, sessions, subtasks
from holdfast.hub.tree import sessions as known_sessions
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.hub.tree.statuses import OPEN


def save(connection: Connection, session_id: str, snapshot: Mapping[str, Any], now_ms: int) -> Row:
    """One new row per save; a session nobody spoke of before is met here."""
    project_id = _project_of(connection, session_id)
    known_sessions.meet(connection, session_id, project_id, now_ms)
    row: Row = {
        "id": ids.new(),
        "project_id": project_id,
        "agent_id": f"{SNAPSHOT}-{session_id}-{now_ms}",
        "agent_type": SNAPSHOT,
        "session_id": session_id,
        "status": "completed",
        "role_context": dict(snapshot),
        "skills_to_restore": [],
        "tools_used": [],
        "progress_summary": snapshot.get("context_summary"),
        "updated_ms": now_ms,
    }
    connection.execute(sa.insert(agent_contexts).values(row))
    pending_writes.announce(
        connection,
        "snapshot.saved",
        {"id": row["id"], "trigger": snapshot.get("trigger")},
        project_id=project_id,
        session_id=session_id,
    )
    return row


def latest(connection: Connection, session_id: str) -> Row | None:
    table = agent_contexts.c
    query = sa.select(agent_contexts).where(
        table.session_id == session_id, table.agent_type == SNAPSHOT
    )
    return first(connection, query.order_by(table.updated_ms.desc(), table.id).limit(1))


def compacted(
    connection: Connection, session_id: str, summary: str, agent: str, now_ms: int
) -> None:
    """Note that this session's window was compacted; a session nobody knows is not invented."""
    query = sa.update(sessions).where(sessions.c.id == session_id)
    changed = connection.execute(
        query.values(
            compacted_ms=now_ms,
            compact_summary=summary or sessions.c.compact_summary,
            compact_agent=agent,
            compact_count=sessions.c.compact_count + 1,
        )
    )
    if changed.rowcount:
        pending_writes.announce(
            connection, "session.compacted", {"agent": agent}, session_id=session_id
        )


def status(connection: Connection, session_id: str) -> Row | None:
    found = known_sessions.find(connection, session_id)
    if found is not None:
        return found
    asked = sa.select(requests.c.id).where(requests.c.session_id == session_id).limit(1)
    return None if connection.scalar(asked) is None else {"compacted_ms": None}


def open_now(connection: Connection, saved: Sequence[Any], open_ones: Sequence[Row]) -> list[Any]:
    """Saved tasks and the store's open ones, each once; the store knows which have ended since."""
    named = {name for one in saved if (name := task_id(one))}
    ended = sa.select(subtasks.c.id).where(subtasks.c.id.in_(named), subtasks.c.status.not_in(OPEN))
    over = set(connection.execute(ended).scalars()) if named else set()
    left = [one for one in saved if task_id(one) not in over]
    return without_repeats([*map(task_of, open_ones), *left])


def task_of(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "description", "status", "agent_type", "agent_id")}


def _project_of(connection: Connection, session_id: str) -> str | None:
    found = known_sessions.find(connection, session_id)
    return None if found is None else found["project_id"]

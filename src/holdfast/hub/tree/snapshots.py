"""Snapshots through the API: save, look up, and restore as a brief. Found by the exact session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.checkpoint.snapshot_form import task_id, without_repeats
from holdfast.hub import ids
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, first
from holdfast.hub.store.tables import agent_contexts, requests, sessions, subtasks
from holdfast.hub.tree import sessions as known_sessions
from holdfast.hub.tree import totals
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.hub.tree.statuses import OPEN

TASK_FIELDS = ("id", "description", "status", "agent_type", "agent_id")
_SESSION = sa.bindparam("of_session", type_=sa.Text)
_PROJECT = sa.select(sessions.c.project_id).where(sessions.c.id == _SESSION)
_LATEST = (
    sa.select(agent_contexts)
    .where(agent_contexts.c.session_id == _SESSION, agent_contexts.c.agent_type == SNAPSHOT)
    .order_by(agent_contexts.c.updated_ms.desc(), agent_contexts.c.id)
    .limit(1)
)
_COMPACTED = (
    sa.update(sessions)
    .where(sessions.c.id == _SESSION)
    .values(
        compacted_ms=sa.bindparam("now_ms"),
        compact_summary=sa.func.coalesce(
            sa.bindparam("summary", type_=sa.Text), sessions.c.compact_summary
        ),
        compact_agent=sa.bindparam("agent"),
        compact_count=sessions.c.compact_count + 1,
    )
)
_ENDED = sa.select(subtasks.c.id).where(
    subtasks.c.id.in_(sa.bindparam("named", expanding=True)), subtasks.c.status.not_in(OPEN)
)


def save(connection: Connection, session_id: str, snapshot: Mapping[str, Any], now_ms: int) -> Row:
    """Add a row per save; an unknown session is created."""
    project_id = _note_activity(connection, session_id, now_ms)
    row: Row = {
        "id": ids.new(),
        "project_id": project_id,
        "agent_id": f"{SNAPSHOT}-{session_id}-{now_ms}",
        "agent_type": SNAPSHOT,
        "session_id": session_id,
        "status": "completed",
        "role_context": snapshot,
        "skills_to_restore": [],
        "tools_used": [],
        "progress_summary": snapshot.get("context_summary"),
        "compact_id": None,
        "updated_ms": now_ms,
    }
    pending_writes.put(connection, agent_contexts, row)
    pending_writes.announce(
        connection,
        "snapshot.saved",
        {"id": row["id"], "trigger": snapshot.get("trigger")},
        project_id=project_id,
        session_id=session_id,
    )
    return row


def latest(connection: Connection, session_id: str) -> Row | None:
    return first(connection, _LATEST, {"of_session": session_id})


def compacted(
    connection: Connection, session_id: str, summary: str, agent: str, now_ms: int
) -> None:
    """Note that this session's window was compacted; a session nobody knows is not invented."""
    given = {"of_session": session_id, "summary": summary or None, "agent": agent, "now_ms": now_ms}
    if connection.execute(_COMPACTED, given).rowcount:
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
    over = set(connection.scalars(_ENDED, {"named": sorted(named)})) if named else set()
    left = [one for one in saved if task_id(one) not in over]
    return without_repeats([*map(task_of, open_ones), *left])


def task_of(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in TASK_FIELDS}


def _note_activity(connection: Connection, session_id: str, now_ms: int) -> str | None:
    """Return the session's project; create the session if it is new, and note activity."""
    found = connection.execute(_PROJECT, {"of_session": session_id}).first()
    if found is None:
        known_sessions.meet(connection, session_id, None, now_ms)
        return None
    totals.seen(connection, session_id, now_ms)
    project_id: str | None = found[0]
    return project_id

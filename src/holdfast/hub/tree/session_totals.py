"""A session's totals: every tool call adds to them, at the end of its transaction.

A session that stands in the project of the call proves by its reference that the project is there.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store import pending_writes
from holdfast.hub.store.batch import Growth
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import sessions
from holdfast.hub.store.upsert import put_new

SUMS = (
    "total_tools_used",
    "total_success",
    "total_errors",
    "total_duration_ms",
    "timed_actions",
)
GROWTH = Growth(sessions, SUMS, latest="seen_ms", within="project_id")
_NEW_PROJECT = sa.bindparam("new_project_id", type_=sa.Text)
_STANDS = sa.select(sessions.c.id).where(
    sessions.c.id == sa.bindparam("session_id", type_=sa.Text),
    (sessions.c.project_id == _NEW_PROJECT) | _NEW_PROJECT.is_(None),
)
_TAKEN_UP = (
    sa.update(sessions)
    .where(sessions.c.id == sa.bindparam("session_id", type_=sa.Text))
    .values(project_id=sa.func.coalesce(sessions.c.project_id, _NEW_PROJECT))
)


def add(connection: Connection, action: Row) -> bool:
    """False where the session is not known, or not in this project: then `begin`."""
    if action["session_id"] is None or not _stands(connection, action):
        return False
    _grow(connection, action, action["project_id"])
    return True


def begin(connection: Connection, action: Row) -> None:
    """The same, for a session that may be new; it keeps the project it has."""
    if action["session_id"] is None:
        return
    row = {
        "id": action["session_id"],
        "project_id": action["project_id"],
        "started_ms": action["created_ms"],
        "seen_ms": action["created_ms"],
        **_sums(action),
    }
    if not put_new(connection, sessions, row):
        given = {"session_id": action["session_id"], "new_project_id": action["project_id"]}
        connection.execute(_TAKEN_UP, given)
        _grow(connection, action, None)
        return
    pending_writes.learn(connection, *_place(action))
    pending_writes.count(connection, "sessions")
    place = {"project_id": action["project_id"], "session_id": action["session_id"]}
    pending_writes.announce(connection, "session.started", {}, **place)


def seen(connection: Connection, session_id: str, now_ms: int) -> None:
    """Of a session that is there: heard of at this time."""
    more = {"id": session_id, "project_id": None, "seen_ms": now_ms}
    pending_writes.grow(connection, GROWTH, {**more, **dict.fromkeys(SUMS, 0)})


def _stands(connection: Connection, action: Row) -> bool:
    """Asked once for all calls of a session: should it go, the sums find no row and say so."""
    if pending_writes.knows(connection, *_place(action)):
        return True
    given = {"session_id": action["session_id"], "new_project_id": action["project_id"]}
    found = connection.scalar(_STANDS, given) is not None
    if found:
        pending_writes.learn(connection, *_place(action))
    return found


def _place(action: Row) -> tuple[str | None, ...]:
    return "session", action["session_id"], action["project_id"]


def _grow(connection: Connection, action: Row, project_id: str | None) -> None:
    more = {"id": action["session_id"], "project_id": project_id, "seen_ms": action["created_ms"]}
    pending_writes.grow(connection, GROWTH, {**more, **_sums(action)})


def _sums(action: Row) -> dict[str, int]:
    succeeded = action["exit_code"] == 0
    return {
        "total_tools_used": 1,
        "total_success": int(succeeded),
        "total_errors": int(not succeeded),
        "total_duration_ms": action["duration_ms"] or 0,
        "timed_actions": int(action["duration_ms"] is not None),
    }

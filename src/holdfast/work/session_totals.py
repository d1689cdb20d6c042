"""A session's totals: every tool call adds to them, in one statement that is made once.

A session that stands in the project of the call proves by its reference that the project is there.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.store import notes
from holdfast.store.page import Row
from holdfast.store.tables import sessions
from holdfast.store.upsert import put_new

SUMS = (
    "total_tools_used",
    "total_success",
    "total_errors",
    "total_duration_ms",
    "timed_actions",
)


def _new(name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(f"new_{name}", type_=sessions.c[name].type)


_GROW = (
    sa.update(sessions)
    .where(sessions.c.id == _new("id"))
    .values({name: sessions.c[name] + _new(name) for name in SUMS})
    .values(
        seen_ms=sa.case(
            (sessions.c.seen_ms > _new("seen_ms"), sessions.c.seen_ms), else_=_new("seen_ms")
        )
    )
)
_GROW_IN_PROJECT = _GROW.where(
    (sessions.c.project_id == _new("project_id")) | _new("project_id").is_(None)
)
_GROW_ANYWHERE = _GROW.values(
    project_id=sa.func.coalesce(sessions.c.project_id, _new("project_id"))
)


def add(connection: Connection, action: Row) -> bool:
    """False where the session is not known, or not in this project: then `begin`."""
    return action["session_id"] is not None and _grown(connection, _GROW_IN_PROJECT, action)


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
    if not put_new(connection, sessions, ("id",), row):
        _grown(connection, _GROW_ANYWHERE, action)
        return
    notes.count(connection, "sessions")
    place = {"project_id": action["project_id"], "session_id": action["session_id"]}
    notes.announce(connection, "session.started", {}, **place)


def _grown(connection: Connection, statement: sa.Update, action: Row) -> bool:
    given = {
        "new_id": action["session_id"],
        "new_project_id": action["project_id"],
        "new_seen_ms": action["created_ms"],
        **{f"new_{name}": more for name, more in _sums(action).items()},
    }
    return bool(connection.execute(statement, given).rowcount)


def _sums(action: Row) -> dict[str, int]:
    succeeded = action["exit_code"] == 0
    return {
        "total_tools_used": 1,
        "total_success": int(succeeded),
        "total_errors": int(not succeeded),
        "total_duration_ms": action["duration_ms"] or 0,
        "timed_actions": int(action["duration_ms"] is not None),
    }

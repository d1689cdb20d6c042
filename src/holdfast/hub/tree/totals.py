"""The totals of a session, and how often each tool was called in a project.

Every tool call adds to them at the end of its transaction, so that a filtered list of a million
actions states its total without counting.

A session that belongs to the project of a call references it, so the project needs no check of its
own.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store import pending_writes
from holdfast.hub.store.batch import Growth, RowTally
from holdfast.hub.store.rows import Row, put_new
from holdfast.hub.store.tables import actions, sessions, tool_counts

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
    """Add a call to the totals; return False if the session is unknown or in another project:
    then use `begin`."""
    if action["session_id"] is None or not _is_in_project(connection, action):
        return False
    _grow(connection, action, action["project_id"])
    return True


def begin(connection: Connection, action: Row) -> None:
    """As `add`, for a session that may be new; a known one stays in its project."""
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
    place_calls = {"project_id": action["project_id"], "session_id": action["session_id"]}
    pending_writes.announce(connection, "session.started", {}, **place_calls)


def note_activity(connection: Connection, session_id: str, now_ms: int) -> None:
    """Note activity of an existing session at this time."""
    more = {"id": session_id, "project_id": None, "seen_ms": now_ms}
    pending_writes.grow(connection, GROWTH, {**more, **dict.fromkeys(SUMS, 0)})


def _is_in_project(connection: Connection, action: Row) -> bool:
    """Checked once for all calls of a session: if the session is deleted, the sums find no row
    and report it."""
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


BY = ("project_id", "tool_name", "tool_type")
KEPT = RowTally(tool_counts, BY)
NO_PROJECT = ""  # a key is never null
COLUMNS = (sa.func.coalesce(actions.c.project_id, NO_PROJECT), actions.c.tool_name,
           actions.c.tool_type)  # fmt: skip


def add_calls(connection: Connection, row: Row, by: int = 1) -> None:
    """Add to the number of calls, or subtract with a negative `by`."""
    key = (row["project_id"] or NO_PROJECT, row["tool_name"], row["tool_type"])
    pending_writes.tally(connection, KEPT, key, by)


def remove_calls(connection: Connection, which: sa.ColumnElement[bool]) -> int:
    """Delete these actions; return how many there were."""
    gone = connection.execute(sa.delete(actions).where(which).returning(*COLUMNS)).all()
    for project_id, tool_name, tool_type in gone:
        pending_writes.tally(connection, KEPT, (project_id, tool_name, tool_type), -1)
    return len(gone)


def place_calls(connection: Connection, homeless: sa.ColumnElement[bool], project_id: str) -> None:
    """Assign these actions, which have no project, to one."""
    placed = sa.update(actions).where(homeless).values(project_id=project_id)
    calls = connection.execute(placed.returning(actions.c.tool_name, actions.c.tool_type)).all()
    for tool_name, tool_type in calls:
        pending_writes.tally(connection, KEPT, (NO_PROJECT, tool_name, tool_type), -1)
        pending_writes.tally(connection, KEPT, (project_id, tool_name, tool_type))


def total_calls(connection: Connection, wanted: dict[str, str | None]) -> int:
    """Return the number of calls; `wanted` filters by project, tool and type."""
    filters = [tool_counts.c[name] == value for name, value in wanted.items() if value is not None]
    query = sa.select(sa.func.coalesce(sa.func.sum(tool_counts.c.n), 0)).where(*filters)
    return int(connection.scalar(query) or 0)


def recount_calls(connection: Connection) -> None:
    connection.execute(sa.delete(tool_counts))
    pending_writes.drop(connection, KEPT)
    counted = sa.select(*COLUMNS, sa.func.count()).group_by(*COLUMNS)
    connection.execute(sa.insert(tool_counts).from_select([*BY, "n"], counted))

"""Write projects and sessions from their first record on, and keep their times up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import (
    RecordedCheckpoint,
    RecordedEvent,
    RecordedProject,
    RecordedSession,
)
from holdfast.hub.ingest.writers import contexts
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, first, put_new
from holdfast.hub.store.tables import actions, projects, sessions
from holdfast.hub.tree.totals import place_calls


def create_missing(connection: Connection, records: Iterable[RecordedEvent]) -> None:
    """Create the rows that others refer to; several sources may report the same one at once."""
    for record in records:
        if isinstance(record, RecordedProject):
            _create_project(connection, record.id, record.path, record.first_ms)
        elif isinstance(record, RecordedCheckpoint):
            _create_project(connection, record.project_id, record.path, record.at_ms)
        elif isinstance(record, RecordedSession):
            _create_session(connection, record)


def _create_project(connection: Connection, project_id: str, path: str, at_ms: int) -> None:
    row: Row = {
        "id": project_id,
        "path": path,
        "name": path.rstrip("/").rpartition("/")[2][:200] or None,
        "metadata": {},
        "created_ms": at_ms,
        "updated_ms": at_ms,
    }
    if put_new(connection, projects, row):
        pending_writes.count(connection, "projects")
        pending_writes.announce(
            connection, "project.created", {"path": path}, project_id=project_id
        )


def _create_session(connection: Connection, record: RecordedSession) -> None:
    row: Row = {
        "id": record.id,
        "project_id": record.project_id,
        "started_ms": record.first_ms,
        "seen_ms": record.last_ms,
        "total_tools_used": 0,
    }
    if put_new(connection, sessions, row):
        pending_writes.count(connection, "sessions")
        _announce(connection, "session.started", record)


def update_times(
    connection: Connection, records: Iterable[RecordedEvent], totals: Counter[str]
) -> None:
    """Update the times of projects and sessions, last, because other writers wait for these rows.

    `key_share`: a child row that was just written locks its parent's key; two transactions that
    locked the whole parent row would deadlock.
    """
    records = list(records)
    for project in (record for record in records if isinstance(record, RecordedProject)):
        _update_project(connection, project)
    for session in (record for record in records if isinstance(record, RecordedSession)):
        _update_session(connection, session, totals)
        totals = Counter()


def _update_project(connection: Connection, record: RecordedProject) -> None:
    row = first(connection, _PROJECT, {"id": record.id})
    if row is None:
        return
    changes: Row = {
        "created_ms": min(row["created_ms"], record.first_ms),
        "updated_ms": max(row["updated_ms"], record.last_ms),
    }
    if ids.project_id(record.path) == record.id:  # a project recovered from a damaged file has none
        changes["path"] = ids.tidy(record.path)
    _change(connection, projects, row, changes)


_PROJECT = (
    sa.select(projects).where(projects.c.id == sa.bindparam("id")).with_for_update(key_share=True)
)
_SESSION = (
    sa.select(sessions).where(sessions.c.id == sa.bindparam("id")).with_for_update(key_share=True)
)


def _change(connection: Connection, table: sa.Table, row: Row, changes: Row) -> None:
    """Set what differs."""
    new = {name: value for name, value in changes.items() if row[name] != value}
    if new:
        connection.execute(_update(table), {"of": row["id"], **new})


@cache
def _update(table: sa.Table) -> sa.Update:
    """Return a statement that sets the columns it is given."""
    return sa.update(table).where(table.c.id == sa.bindparam("of"))


def _update_session(connection: Connection, record: RecordedSession, totals: Counter[str]) -> None:
    row = first(connection, _SESSION, {"id": record.id})
    if row is None:
        return
    ended = _end_ms(row["ended_ms"], record)
    changes: dict[str, Any] = {
        "project_id": row["project_id"] or record.project_id,
        "started_ms": min(row["started_ms"], record.first_ms),
        "seen_ms": max(row["seen_ms"] or 0, record.last_ms),
        "ended_ms": ended,
        **{name: (row[name] or 0) + more for name, more in totals.items() if more},
    }
    _change(connection, sessions, row, changes)
    if row["project_id"] is None:
        _place_actions(connection, record)
    if (ended is None) != (row["ended_ms"] is None):
        contexts.end_session(connection, record.id, ended is not None)
        _announce(connection, "session.changed" if ended is None else "session.ended", record)


def _end_ms(before: int | None, record: RecordedSession) -> int | None:
    if record.ended_ms > (before or 0):
        before = record.ended_ms
    return None if before is not None and record.opened_ms > before else before


def _place_actions(connection: Connection, record: RecordedSession) -> None:
    """Set the project of actions that were posted before it was known."""
    unplaced = (actions.c.session_id == record.id) & actions.c.project_id.is_(None)
    place_calls(connection, unplaced, record.project_id)


def _announce(connection: Connection, kind: str, record: RecordedSession) -> None:
    pending_writes.announce(
        connection, kind, {}, project_id=record.project_id, session_id=record.id
    )

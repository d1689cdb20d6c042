"""Events for listeners. They are written at the end of the transaction that caused them, and
numbered in the order of commits: a listener asks for what came after the last number it saw.
"""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import events

_ORDER_LOCK = 0x401DFA57
_PENDING = "holdfast_events"


def announce(
    connection: Connection,
    kind: str,
    body: dict[str, Any] | None = None,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    at_ms: int | None = None,
) -> None:
    """Send an event to listeners once the transaction is committed."""
    row = {
        "kind": kind,
        "project_id": project_id,
        "session_id": session_id,
        "body": body or {},
        "at_ms": int(time.time() * 1000) if at_ms is None else at_ms,
    }
    _pending(connection).append(row)


def tell(
    connection: Connection, kind: str, row: Row, *names: str, at_ms: int | None = None, **place: Any
) -> None:
    """Announce a change of a row with these columns of it, in its project and session, or in those
    that are given."""
    body = {name: row[name] for name in names}
    place = {name: place.get(name, row.get(name)) for name in ("project_id", "session_id")}
    announce(connection, kind, body, at_ms=at_ms, **place)


def clear(connection: Connection) -> None:
    """Drop the events of this transaction: nobody is told of them."""
    _pending(connection).clear()


def write(connection: Connection) -> None:
    """Write the events; only the commit follows. The lock, held until then, keeps a later commit
    from getting a lower number."""
    rows = _pending(connection)
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ORDER_LOCK)))
    connection.execute(_INSERT, rows)
    connection.info[_PENDING] = []


_INSERT = sa.insert(events).inline()  # its number is not asked for


def _pending(connection: Connection) -> list[Row]:
    pending: list[Row] = connection.info.setdefault(_PENDING, [])
    return pending

"""Events for listeners. They are written at the end of the transaction that caused them, and
numbered in the order of commits, on both engines: a listener asks for what came after the last
number it saw.
"""

import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from holdfast.hub.store.rows import Row, matching, rows
from holdfast.hub.store.tables import events

KEEP_MS = 24 * 3_600_000
MOST_LIVE_EVENTS = 100_000
_ORDER_LOCK = 0x401DFA57
_PENDING = "holdfast_events"


def announce(
    connection: sa.Connection,
    kind: str,
    body: Row | None = None,
    row: Row | None = None,
    *,
    at_ms: int | None = None,
    **place: Any,
) -> None:
    """Send an event once the transaction is committed, in the row's place or a given one."""
    about = {name: place.get(name, (row or {}).get(name)) for name in ("project_id", "session_id")}
    at_ms = int(time.time() * 1000) if at_ms is None else at_ms
    _pending(connection).append({"kind": kind, **about, "body": body or {}, "at_ms": at_ms})


def tell(
    connection: sa.Connection,
    kind: str,
    row: Row,
    *names: str,
    at_ms: int | None = None,
    **place: Any,
) -> None:
    """Announce a change of a row with these columns of it."""
    announce(connection, kind, {name: row[name] for name in names}, row, at_ms=at_ms, **place)


def clear(connection: sa.Connection) -> None:
    """Drop the events of this transaction: nobody is told of them."""
    _pending(connection).clear()


def write(connection: sa.Connection) -> None:
    """Write the events. A lock until the commit keeps a later one from a lower number."""
    pending = _pending(connection)
    if not pending:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ORDER_LOCK)))
    connection.execute(sa.insert(events).inline(), pending)  # its number is not asked for
    connection.info[_PENDING] = []


def _pending(connection: sa.Connection) -> list[Row]:
    pending: list[Row] = connection.info.setdefault(_PENDING, [])
    return pending


@dataclass(frozen=True, slots=True)
class EventsSince:
    """Events after a number. `last` is the number to continue from, also with a filter."""

    rows: list[Row]
    last: int
    more: bool
    missed: bool = False  # events after the requested number were pruned


def newest_id(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(events.c.id))) or 0


def list_since(
    connection: sa.Connection, after: int, limit: int, **wanted: str | None
) -> EventsSince:
    """List events after a number, oldest first. If the number is higher than any event's (it came
    from another database), list none and continue from the newest."""
    last = newest_id(connection)
    if after >= last:
        return EventsSince([], last, more=False, missed=after > last)
    since = events.c.id > after, events.c.id <= last, *matching(events, **wanted)
    query = sa.select(events).where(*since).order_by(events.c.id).limit(limit)
    found = rows(connection, query)
    more = len(found) == limit and found[-1]["id"] < last
    oldest = connection.scalar(sa.select(sa.func.min(events.c.id))) or 0
    return EventsSince(found, found[-1]["id"] if more else last, more, 0 < after < oldest - 1)


def prune(connection: sa.Connection, now_ms: int) -> int:
    """Delete events that are older than one day, and the oldest of more than a fixed number."""
    newest = newest_id(connection)
    too_old = events.c.at_ms < now_ms - KEEP_MS
    too_many = events.c.id <= newest - MOST_LIVE_EVENTS
    # The newest is never deleted: the next number follows it, and listeners compare with it.
    statement = sa.delete(events).where(events.c.id < newest, too_old | too_many)
    return connection.execute(statement).rowcount

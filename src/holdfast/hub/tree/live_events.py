"""Live events: what came after a number. Numbers rise in the order of commits, on both engines."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Row, rows
from holdfast.hub.store.tables import events

KEPT_MS = 24 * 3_600_000
MOST_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class EventFilter:
    project_id: str | None = None
    session_id: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Since:
    """`last`: what to ask after next time; it moves on past events nobody here wanted."""

    rows: list[Row]
    last: int
    more: bool
    missed: bool = False  # some that came after the number asked for are pruned


def newest(connection: Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(events.c.id))) or 0


def since(connection: Connection, after: int, wanted: EventFilter, limit: int) -> Since:
    """Oldest first. A number from the future (of another database) means: from now on."""
    last = newest(connection)
    if after >= last:
        return Since([], last, more=False, missed=after > last)
    query = sa.select(events).where(events.c.id > after, events.c.id <= last).order_by(events.c.id)
    for name in ("project_id", "session_id", "kind"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(events.c[name] == value)
    found = rows(connection, query.limit(limit))
    more = len(found) == limit and found[-1]["id"] < last
    missed = after > 0 and _oldest(connection) > after + 1
    return Since(found, found[-1]["id"] if more else last, more, missed)


def prune(connection: Connection, now_ms: int) -> int:
    """A day of them, and never more than so many."""
    too_old = events.c.at_ms < now_ms - KEPT_MS
    too_many = events.c.id <= newest(connection) - MOST_KEPT
    # The newest stays, so that numbers go on from it and a listener sees where it stands.
    gone = sa.delete(events).where(events.c.id < newest(connection), too_old | too_many)
    return connection.execute(gone).rowcount


def _oldest(connection: Connection) -> int:
    return connection.scalar(sa.select(sa.func.min(events.c.id))) or 0

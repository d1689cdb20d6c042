"""What a transaction collects and writes together at its end: new rows, sums, row counts, and
events for listeners.

Counting a million rows takes longer than writing one, so counts are stored; they are updated at the
very end, so that writers hardly wait for each other. Pending rows and sums are written before any
other statement of the transaction, so that its queries see them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from holdfast.hub.store import postgres_batch
from holdfast.hub.store.batch import Growth, Row, RowTally, WriteBatch, write_to_sqlite
from holdfast.hub.store.rows import upsert
from holdfast.hub.store.tables import counts, events, metadata, requests, subtasks, tasks

CHANNEL = postgres_batch.CHANNEL
COUNTS = RowTally(counts, ("noun",))
BY_PROJECT = ("requests", "tasks", "subtasks")  # kept in all, and of each project
KEPT = ("projects", "sessions", *BY_PROJECT, "actions", "messages")
MOST_KNOWN = 10_000
Kind: TypeAlias = sa.Table | Growth | RowTally
_NOTES, _KNOWN = "holdfast_notes", "holdfast_known"


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
    _notes(connection).append((events, row))


def put(connection: Connection, table: sa.Table, row: Row) -> None:
    """Insert a complete row at the end; a duplicate id fails only then."""
    _notes(connection).append((table, row))


def grow(connection: Connection, growth: Growth, more: Row) -> None:
    """Add to an existing row; if it is missing, the whole transaction is retried."""
    _notes(connection).append((growth, more))


def count(connection: Connection, noun: str, by: int = 1) -> None:
    tally(connection, COUNTS, (noun,), by)


def of_project(noun: str, project_id: str) -> str:
    """Return the name under which a project's count is stored."""
    return f"{noun} of {project_id}"


def tally(connection: Connection, what: RowTally, key: tuple[str, ...], by: int = 1) -> None:
    _notes(connection).append((what, (key, by)))


def recount(connection: Connection, nouns: Iterable[str]) -> None:
    """Count again, after a deletion that cascaded."""
    for noun in nouns:
        table = metadata.tables[noun]
        n = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
        drop(connection, COUNTS, (noun,))
        connection.execute(upsert(connection, counts, ["noun"], {"noun": noun, "n": n}))


def recount_all(connection: Connection) -> None:
    """Recompute every stored count from the rows."""
    recount(connection, KEPT)
    connection.execute(sa.delete(counts).where(counts.c.noun.like(of_project("%", "%"))))
    by_project = [{"noun": noun, "n": n} for noun, n in real_by_project(connection).items()]
    if by_project:
        connection.execute(sa.insert(counts), by_project)


def real_by_project(connection: Connection) -> dict[str, int]:
    """Count the rows of each project, by the name the count is stored under."""
    numbers = [sa.func.count(table.c.id.distinct()) for table in (requests, tasks, subtasks)]
    joined = requests.outerjoin(tasks).outerjoin(subtasks)
    query = sa.select(requests.c.project_id, *numbers).select_from(joined)
    return {
        of_project(noun, project_id): n
        for project_id, *found in connection.execute(query.group_by(requests.c.project_id))
        for noun, n in zip(BY_PROJECT, found, strict=True)
    }


def forget(connection: Connection, nouns: Iterable[str]) -> None:
    """Delete counts that are no longer used."""
    gone = list(nouns)
    for noun in gone:
        drop(connection, COUNTS, (noun,))
    connection.execute(sa.delete(counts).where(counts.c.noun.in_(gone)))


def drop(connection: Connection, what: RowTally, key: tuple[str, ...] | None = None) -> None:
    """Cancel pending additions. List positions stay valid, because marks refer to them."""
    noted = _notes(connection)
    for at, (kind, value) in enumerate(noted):
        if kind == what and key in (None, value[0]):
            noted[at] = (kind, (value[0], 0))


def stored_count(connection: Connection, noun: str) -> int:
    return connection.scalar(sa.select(counts.c.n).where(counts.c.noun == noun)) or 0


def knows(connection: Connection, *what: str | None) -> bool:
    """Return whether this connection has seen the row and nothing has contradicted it since."""
    return what in connection.info.get(_KNOWN, ())


def learn(connection: Connection, *what: str | None) -> None:
    known: set[tuple[str | None, ...]] = connection.info.setdefault(_KNOWN, set())
    if len(known) >= MOST_KNOWN:
        known.clear()
    known.add(what)


def mistrust(connection: Connection) -> bool:
    """Forget all known rows; return False if there were none."""
    return bool(connection.info.pop(_KNOWN, None))


def mark(connection: Connection) -> int:
    """Return the start of a change, so that a refused one can be undone."""
    return len(_notes(connection))


def back_to(connection: Connection, mark: int) -> None:
    del _notes(connection)[mark:]


def silence(connection: Connection, mark: int) -> None:
    """Drop the events since the mark; counts stay."""
    noted = _notes(connection)
    noted[mark:] = [note for note in noted[mark:] if note[0] is not events]


def clear(connection: Connection) -> None:
    connection.info[_NOTES] = []


def settle(connection: Connection, *, last: bool = False) -> None:
    """Write what is pending. `last`: only the commit follows, so it may be combined with it."""
    noted, connection.info[_NOTES] = _notes(connection), []
    _write(connection, noted, last=last)


def watch(engine: Engine) -> None:
    """Write pending rows and sums before any other statement."""

    @event.listens_for(engine, "before_cursor_execute")
    def before(connection: Connection, *_: Any) -> None:
        noted = connection.info.get(_NOTES)
        if noted and any(_is_readable(kind) for kind, _ in noted):
            _flush(connection, noted)


def _flush(connection: Connection, noted: list[tuple[Kind, Any]]) -> None:
    """Write pending rows and sums; list positions stay valid, as in `drop`."""
    waiting = [note for note in noted if _is_readable(note[0])]
    noted[:] = [(COUNTS, (("",), 0)) if _is_readable(note[0]) else note for note in noted]
    _write(connection, waiting)


def _is_readable(kind: Kind) -> bool:
    return kind is not events and not isinstance(kind, RowTally)


def _write(connection: Connection, noted: list[tuple[Kind, Any]], *, last: bool = False) -> None:
    batch = _batch(noted)
    if batch:
        postgres = connection.dialect.name == "postgresql"
        write = postgres_batch.write if postgres else write_to_sqlite
        write(connection, batch, last=last)


def _batch(noted: list[tuple[Kind, Any]]) -> WriteBatch:
    kinds: dict[Kind, list[Any]] = {}
    for kind, value in noted:
        kinds.setdefault(kind, []).append(value)
    batch = WriteBatch(events=kinds.pop(events, []))
    for kind, values in kinds.items():
        if isinstance(kind, sa.Table):
            batch.rows[kind] = values
        elif isinstance(kind, Growth):
            batch.grown[kind] = kind.merge(values)
        elif merged := kind.merge(values):
            batch.tallies[kind] = merged
    return batch


def _notes(connection: Connection) -> list[tuple[Kind, Any]]:
    noted: list[tuple[Kind, Any]] = connection.info.setdefault(_NOTES, [])
    return noted

"""What a transaction gathers and writes together at its end: rows nobody reads back in between,
sums, how many rows there are, and events for listeners.

Counting a million rows takes longer than writing one, so counts are kept; they are touched at the
very end, so that writers hardly wait for each other. Before anything else is asked of the database
in the same transaction, what waits is written: nobody sees a tree without it.
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
    """Listeners hear of it once the transaction is through."""
    row = {
        "kind": kind,
        "project_id": project_id,
        "session_id": session_id,
        "body": body or {},
        "at_ms": int(time.time() * 1000) if at_ms is None else at_ms,
    }
    _notes(connection).append((events, row))


def put(connection: Connection, table: sa.Table, row: Row) -> None:
    """A new row, whole; that its id is taken shows at the end."""
    _notes(connection).append((table, row))


def grow(connection: Connection, growth: Growth, more: Row) -> None:
    """Of a row known to be there: where it is not, the whole transaction is tried again."""
    _notes(connection).append((growth, more))


def count(connection: Connection, noun: str, by: int = 1) -> None:
    tally(connection, COUNTS, (noun,), by)


def of_project(noun: str, project_id: str) -> str:
    """The name under which the count of one project is kept."""
    return f"{noun} of {project_id}"


def tally(connection: Connection, what: RowTally, key: tuple[str, ...], by: int = 1) -> None:
    _notes(connection).append((what, (key, by)))


def recount(connection: Connection, nouns: Iterable[str]) -> None:
    """After rows went with the row they belonged to: count again, exactly."""
    for noun in nouns:
        table = metadata.tables[noun]
        n = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
        drop(connection, COUNTS, (noun,))
        connection.execute(upsert(connection, counts, ["noun"], {"noun": noun, "n": n}))


def recount_all(connection: Connection) -> None:
    """Every kept count made again from the rows."""
    recount(connection, KEPT)
    connection.execute(sa.delete(counts).where(counts.c.noun.like(of_project("%", "%"))))
    told = [{"noun": noun, "n": n} for noun, n in real_by_project(connection).items()]
    if told:
        connection.execute(sa.insert(counts), told)


def real_by_project(connection: Connection) -> dict[str, int]:
    """What the counts of projects should be, by the name they are kept under."""
    of = [sa.func.count(table.c.id.distinct()) for table in (requests, tasks, subtasks)]
    joined = requests.outerjoin(tasks).outerjoin(subtasks)
    query = sa.select(requests.c.project_id, *of).select_from(joined)
    return {
        of_project(noun, project_id): n
        for project_id, *numbers in connection.execute(query.group_by(requests.c.project_id))
        for noun, n in zip(BY_PROJECT, numbers, strict=True)
    }


def forget(connection: Connection, nouns: Iterable[str]) -> None:
    """Nobody asks for these counts any more."""
    gone = list(nouns)
    for noun in gone:
        drop(connection, COUNTS, (noun,))
    connection.execute(sa.delete(counts).where(counts.c.noun.in_(gone)))


def drop(connection: Connection, what: RowTally, key: tuple[str, ...] | None = None) -> None:
    """What was to be added is known already. Places in the list stay: somebody may have a mark."""
    noted = _notes(connection)
    for at, (kind, told) in enumerate(noted):
        if kind == what and key in (None, told[0]):
            noted[at] = (kind, (told[0], 0))


def counted(connection: Connection, noun: str) -> int:
    return connection.scalar(sa.select(counts.c.n).where(counts.c.noun == noun)) or 0


def knows(connection: Connection, *what: str | None) -> bool:
    """True where this connection has seen it there, and has not been proven wrong since."""
    return what in connection.info.get(_KNOWN, ())


def learn(connection: Connection, *what: str | None) -> None:
    known: set[tuple[str | None, ...]] = connection.info.setdefault(_KNOWN, set())
    if len(known) >= MOST_KNOWN:
        known.clear()
    known.add(what)


def mistrust(connection: Connection) -> bool:
    """Forget all that was known; False where nothing was."""
    return bool(connection.info.pop(_KNOWN, None))


def mark(connection: Connection) -> int:
    """Where a change begins, so that one which is refused leaves no note."""
    return len(_notes(connection))


def back_to(connection: Connection, mark: int) -> None:
    del _notes(connection)[mark:]


def silence(connection: Connection, mark: int) -> None:
    """Nobody hears of what was done since, but it is counted."""
    noted = _notes(connection)
    noted[mark:] = [one for one in noted[mark:] if one[0] is not events]


def clear(connection: Connection) -> None:
    connection.info[_NOTES] = []


def settle(connection: Connection, *, last: bool = False) -> None:
    """Write the notes. `last`: nothing but the commit comes after, so it may be made part of it."""
    noted, connection.info[_NOTES] = _notes(connection), []
    _write(connection, noted, last=last)


def watch(engine: Engine) -> None:
    """Rows and sums that wait are written before anything else is asked."""

    @event.listens_for(engine, "before_cursor_execute")
    def before(connection: Connection, *_: Any) -> None:
        noted = connection.info.get(_NOTES)
        if noted and any(_is_seen(kind) for kind, _ in noted):
            _flush(connection, noted)


def _flush(connection: Connection, noted: list[tuple[Kind, Any]]) -> None:
    """Places in the list stay, as in `drop`."""
    waiting = [one for one in noted if _is_seen(one[0])]
    noted[:] = [(COUNTS, (("",), 0)) if _is_seen(one[0]) else one for one in noted]
    _write(connection, waiting)


def _is_seen(kind: Kind) -> bool:
    return kind is not events and not isinstance(kind, RowTally)


def _write(connection: Connection, noted: list[tuple[Kind, Any]], *, last: bool = False) -> None:
    batch = _batch(noted)
    if batch:
        postgres = connection.dialect.name == "postgresql"
        write = postgres_batch.write if postgres else write_to_sqlite
        write(connection, batch, last=last)


def _batch(noted: list[tuple[Kind, Any]]) -> WriteBatch:
    kinds: dict[Kind, list[Any]] = {}
    for kind, told in noted:
        kinds.setdefault(kind, []).append(told)
    batch = WriteBatch(told=kinds.pop(events, []))
    for kind, told in kinds.items():
        if isinstance(kind, sa.Table):
            batch.rows[kind] = told
        elif isinstance(kind, Growth):
            batch.grown[kind] = kind.merged(told)
        elif merged := kind.merged(told):
            batch.tallies[kind] = merged
    return batch


def _notes(connection: Connection) -> list[tuple[Kind, Any]]:
    noted: list[tuple[Kind, Any]] = connection.info.setdefault(_NOTES, [])
    return noted

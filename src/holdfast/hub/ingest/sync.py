"""Bring the store up to date with hooks and transcripts: gather a batch, write it, repeat until
nothing is new.

A batch and the position after it are written in one transaction. A batch that does not begin at the
stored position is refused, so any number of processes may ingest at once: one of them writes a
batch, and the others continue from its end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import partial

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from holdfast.hub import projection, row_times
from holdfast.hub.clean_text import clean
from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest.records import (
    Position,
    RecordBatch,
    RecordedAction,
    RecordedEvent,
    RecordedSubtask,
)
from holdfast.hub.ingest.writers import sessions as writers
from holdfast.hub.ingest.writers.tree import Actions, Subtasks, Tree
from holdfast.hub.store.rows import Row, announce, clear_events, put, rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import positions, sessions
from holdfast.hub.tree import audit as audit_log
from holdfast.hub.tree import waves
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

MOST_EVENTS = 50
_LOCK = 0x401DFA5A  # one process at a time ingests batches of one source


class StalePosition(HoldfastError):
    """The batch does not begin at the stored position, which is `position`."""

    exit_code = 3
    hint = "send again from the stored position"

    def __init__(self, source: str, position: Position) -> None:
        super().__init__(f"{source} was ingested up to another position")
        self.position = position


@dataclass(frozen=True, slots=True)
class IngestResult:
    """How many rows were added by how many batches."""

    batches: int = 0
    requests: int = 0
    tasks: int = 0
    subtasks: int = 0
    actions: int = 0
    checkpoints: int = 0
    set_aside: int = 0  # sources that failed, now or before, and are tried again later

    def plus(self, more: IngestResult) -> IngestResult:
        return IngestResult(*map(sum, zip(astuple(self), astuple(more), strict=True)))


def read_position(connection: Connection, source: str) -> Position:
    query = sa.select(positions.c.position).where(positions.c.source == source)
    return connection.scalar(query) or {}


def ingest_batch(
    connection: Connection, batch: RecordBatch, *, announce: bool = True
) -> IngestResult:
    """Write a batch and its position. With `announce`, listeners get its events.

    Raises StalePosition before anything is written.
    """
    lock_source(connection, batch.source)
    stored = read_position(connection, batch.source)
    if stored != batch.since:
        raise StalePosition(batch.source, stored)
    counts = _write_records(connection, batch.records)
    row = {"source": batch.source, "position": batch.until, "updated_ms": row_times.now_ms()}
    put(connection, positions, ("source",), row)
    if not announce:
        clear_events(connection)
    return counts


def _write_records(connection: Connection, records: Sequence[RecordedEvent]) -> IngestResult:
    writers.create_missing(connection, records)
    session_id, project_id = _find_session_and_project(connection, records)
    stood_before = waves.hold(connection, session_id) if session_id else {}
    tree = Tree(connection, records)
    subtask_writer = Subtasks(connection, records, tree)
    action_writer = Actions(connection, records)
    for record in records:
        if isinstance(record, RecordedSubtask):
            subtask_writer.apply(record)
        elif isinstance(record, RecordedAction):
            action_writer.apply(record)
        else:
            tree.apply(record)
    if session_id:
        subtask_writer.cut_off(session_id)
    new_requests, _ = tree.requests.flush()
    listed, stood = tree.tasks.flush()
    started, changed = subtask_writer.flush()
    removed = tree.tasks.delete_dropped()
    lost = subtask_writer.clear_left()
    done, totals, tools = action_writer.flush()
    writers.write_contexts(connection, records, tools, subtask_writer.cache.rows.values())
    noted = writers.write_audit(connection, records)
    saved = writers.write_checkpoints(connection, records)
    for record in records:
        if write := writers.OF_WINDOWS.get(type(record)):
            write(connection, record)
    writers.update_times(connection, records, totals)
    if session_id and project_id and (listed or stood or removed or lost or started or changed):
        waves.settle(connection, session_id, project_id, stood_before)
    changes = [("request.created", new_requests), ("task.created", listed), ("task.changed", stood)]
    changes += [("subtask.created", started), ("subtask.changed", changed)]
    _announce(connection, (session_id, project_id), [*changes, ("snapshot.saved", saved)], done)
    audit_log.announce_audit(connection, noted)
    audit_log.announce_checkpoints(connection, saved)
    return IngestResult(1, *map(len, (new_requests, listed, started, done, saved)))


def lock_source(connection: Connection, source: str) -> None:
    """Lock a source on PostgreSQL until the transaction ends; on SQLite there is only one writer
    anyway."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(source.encode()).digest()[:4], signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK & 0x7FFFFFFF, number)))


def _find_session_and_project(
    connection: Connection, records: Sequence[RecordedEvent]
) -> tuple[str | None, str | None]:
    """Return the batch's session and project: a source reports one session, in one project."""
    session_ids = (getattr(record, "session_id", None) for record in records)
    project_ids = (getattr(record, "project_id", None) for record in records)
    session_id = next(filter(None, session_ids), None)
    project_id = next(filter(None, project_ids), None)
    if project_id is None and session_id is not None:
        query = sa.select(sessions.c.project_id).where(sessions.c.id == session_id)
        project_id = connection.scalar(query)
    return session_id, project_id


def _announce(
    connection: Connection,
    session_and_project: tuple[str | None, str | None],
    changes: list[tuple[str, list[Row]]],
    done: list[Row],
) -> None:
    """Announce each change of the tree, up to a limit, and all tool calls in one event."""
    room = MOST_EVENTS
    session_id, project_id = session_and_project
    for kind, changed in changes:
        for row in changed[-room:] if room else []:
            body = {"id": row["id"], "status": row.get("status")}
            announce(connection, kind, body, project_id=project_id, session_id=session_id)
            room -= 1
    if done:
        tools = sorted({row["tool_name"] for row in done})[:20]
        announce(
            connection,
            "actions.created",
            {"count": len(done), "tools": tools},
            project_id=project_id,
            session_id=session_id,
        )


MOST_STEPS = 100_000
FEW_SOURCES = 200
MOST_WORDS = 200  # of an error


def sync(
    store: Store,
    sources: Iterable[str] | None = None,
    *,
    announce: bool = True,
    refreshes: bool = True,
) -> IngestResult:
    """Ingest everything new of these sources, or of all sources on this machine. A source that
    fails is set aside, and the others go on.

    `refreshes`: rewrite the projection that hooks read; a process that follows the events does
    that anyway.
    """
    wanted = gather.sources() if sources is None else list(sources)
    known = read_positions(store, wanted)
    failed = set_aside.load()
    done = IngestResult()
    for source in wanted:
        if source in failed and failed[source].is_waiting(row_times.now_ms()):
            done = done.plus(IngestResult(set_aside=1))
            continue
        try:
            done = _ingest_source(store, source, known.get(source, {}), done, announce)
        except Exception as error:
            store.write(partial(_touch, source=source))  # raises if the database is at fault
            _set_aside(source, error)
            done = done.plus(IngestResult(set_aside=1))
        else:
            if source in failed:
                set_aside.remove(source)
    if refreshes:
        projection.refresh(store)
    return done


def _touch(connection: Connection, source: str) -> None:
    """Write the source's position once more."""
    lock_source(connection, source)
    position = read_position(connection, source)
    row = {"source": source, "position": position, "updated_ms": row_times.now_ms()}
    put(connection, positions, ("source",), row)


def _set_aside(source: str, error: Exception) -> None:
    cause = error.orig if isinstance(error, DBAPIError) else error
    words = clean(f"{type(cause).__name__}: {cause}".partition("\n")[0], MOST_WORDS)
    set_aside.add(source, words, row_times.now_ms())
    log.add("ERROR", "sync", f"{source} is set aside: {words}")


def written_at(connection: Connection, sources: Sequence[str]) -> dict[str, int]:
    """Return when each source was last written, in milliseconds."""
    query = sa.select(positions.c.source, positions.c.updated_ms)
    found = rows(connection, query.where(positions.c.source.in_(list(sources)[:FEW_SOURCES])))
    return {row["source"]: row["updated_ms"] for row in found}


def read_positions(store: Store, sources: Sequence[str] = ()) -> dict[str, Position]:
    """Return the position of each source; with a few `sources`, only theirs are read."""
    query = sa.select(positions.c.source, positions.c.position)
    if 0 < len(sources) <= FEW_SOURCES:
        query = query.where(positions.c.source.in_(sources))
    return store.read(lambda c: {name: found or {} for name, found in c.execute(query)})


def _ingest_source(
    store: Store, source: str, position: Position, done: IngestResult, announce: bool
) -> IngestResult:
    for _ in range(MOST_STEPS):
        batch = gather.gather(source, position)
        if batch is None:
            return done
        try:
            done = done.plus(store.write(partial(ingest_batch, batch=batch, announce=announce)))
            position = batch.until
        except StalePosition as error:
            position = error.position
    return done

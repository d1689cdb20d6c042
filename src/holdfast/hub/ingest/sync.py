"""Bring the store up to what hooks and transcripts tell: gather a batch, take it in, until nothing
is new.

A batch and the position after it are one transaction, and a batch that does not begin where the
store stands is refused. So any number of processes may do it at once: each batch is taken by one of
them, and the others go on from where it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.ingest import gather
from holdfast.hub.ingest.records import (
    ActionDone,
    Compacted,
    Deed,
    Position,
    ReadingsTold,
    RecordBatch,
    SubtaskTold,
    WindowSeen,
)
from holdfast.hub.ingest.writers import contexts, news
from holdfast.hub.ingest.writers.sessions import Actions, bring_on, meet
from holdfast.hub.ingest.writers.tree import Subtasks, Tree
from holdfast.hub.projection import refresh
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, upsert
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import positions, sessions
from holdfast.hub.tree import projects, waves
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

MOST_EVENTS = 50
_LOCK = 0x401DFA5A  # one at a time takes batches of one source


class Behind(HoldfastError):
    """The batch does not begin where the store stands; `position` is where that is."""

    exit_code = 3
    hint = "gather again from the position the store has"

    def __init__(self, source: str, position: Position) -> None:
        super().__init__(f"{source} was taken in up to another place")
        self.position = position


@dataclass(frozen=True, slots=True)
class TakenIn:
    """How many rows are new."""

    requests: int = 0
    tasks: int = 0
    subtasks: int = 0
    actions: int = 0
    checkpoints: int = 0


def position_of(connection: Connection, source: str) -> Position:
    query = sa.select(positions.c.position).where(positions.c.source == source)
    return connection.scalar(query) or {}


def take(connection: Connection, batch: RecordBatch, *, tell: bool = True) -> TakenIn:
    """Raises Behind before anything is written; `tell`: listeners hear of it."""
    _hold(connection, batch.source)
    stands = position_of(connection, batch.source)
    if stands != batch.since:
        raise Behind(batch.source, stands)
    before = pending_writes.mark(connection)
    taken = _taken(connection, batch)
    row = {"source": batch.source, "position": batch.until, "updated_ms": row_times.now_ms()}
    connection.execute(upsert(connection, positions, ["source"], row))
    if not tell:
        pending_writes.silence(connection, before)
    return taken


def _taken(connection: Connection, batch: RecordBatch) -> TakenIn:
    deeds = batch.deeds
    meet(connection, deeds)
    session_id, project_id = _place(connection, deeds)
    if session_id:
        waves.hold(connection, session_id)
    tree = Tree(connection, deeds)
    parts = Subtasks(connection, deeds, tree)
    acts = Actions(connection, deeds)
    for deed in deeds:
        if isinstance(deed, SubtaskTold):
            parts.apply(deed)
        elif isinstance(deed, ActionDone):
            acts.apply(deed)
        else:
            tree.apply(deed)
    if session_id:
        parts.cut_off(session_id)
    asked, _ = tree.requests.flush()
    listed, stood = tree.tasks.flush()
    started, changed = parts.flush()
    lost = parts.clear_left()
    done, totals, tools = acts.flush()
    contexts.take_contexts(connection, deeds, tools, parts.shelf.rows.values())
    noted = contexts.take_audit(connection, deeds)
    saved = contexts.take_checkpoints(connection, deeds)
    for deed in deeds:
        if isinstance(deed, WindowSeen):
            contexts.take_window(connection, deed)
        elif isinstance(deed, Compacted):
            contexts.take_compaction(connection, deed)
        elif isinstance(deed, ReadingsTold):
            contexts.take_readings(connection, deed)
    bring_on(connection, deeds, totals)
    _count(connection, project_id, "requests", len(asked) - lost[1])
    _count(connection, project_id, "tasks", len(listed) - tree.removed - lost[0])
    _count(connection, project_id, "subtasks", len(started))
    if done:
        pending_writes.count(connection, "actions", len(done))
    if session_id and project_id and (listed or stood or tree.removed or lost[0]):
        waves.settle(connection, session_id, project_id, None)
    told = [("request.created", asked), ("task.created", listed), ("task.changed", stood)]
    told += [("subtask.created", started), ("subtask.changed", changed)]
    _announce(connection, (session_id, project_id), [*told, ("snapshot.saved", saved)], done)
    news.announce_audit(connection, noted)
    news.announce_checkpoints(connection, saved)
    return TakenIn(len(asked), len(listed), len(started), len(done), len(saved))


def _hold(connection: Connection, source: str) -> None:
    """On SQLite a writer is alone anyway."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(source.encode()).digest()[:4], signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK & 0x7FFFFFFF, number)))


def _place(connection: Connection, told: Sequence[Deed]) -> tuple[str | None, str | None]:
    """Whose batch it is: a source speaks of one session, and a session is in one project."""
    sessions_told = (getattr(deed, "session_id", None) for deed in told)
    projects_told = (getattr(deed, "project_id", None) for deed in told)
    session_id = next((one for one in sessions_told if one), None)
    project_id = next((one for one in projects_told if one), None)
    if project_id is None and session_id is not None:
        query = sa.select(sessions.c.project_id).where(sessions.c.id == session_id)
        project_id = connection.scalar(query)
    return session_id, project_id


def _count(connection: Connection, project_id: str | None, noun: str, more: int) -> None:
    if more and project_id is not None:
        projects.count(connection, project_id, noun, more)
    elif more:
        pending_writes.count(connection, noun, more)


def _announce(
    connection: Connection,
    place: tuple[str | None, str | None],
    told: list[tuple[str, list[Row]]],
    done: list[Row],
) -> None:
    """Each change of the tree up to a number; calls in one word, for there may be thousands."""
    room = MOST_EVENTS
    session_id, project_id = place
    for kind, rows in told:
        for row in rows[-room:] if room else []:
            body = {"id": row["id"], "status": row.get("status")}
            pending_writes.announce(
                connection, kind, body, project_id=project_id, session_id=session_id
            )
            room -= 1
    if done:
        tools = sorted({row["tool_name"] for row in done})[:20]
        pending_writes.announce(
            connection,
            "actions.created",
            {"count": len(done), "tools": tools},
            project_id=project_id,
            session_id=session_id,
        )


MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class IngestResult:
    batches: int = 0
    requests: int = 0
    tasks: int = 0
    subtasks: int = 0
    actions: int = 0
    checkpoints: int = 0

    def and_also(self, taken: TakenIn) -> IngestResult:
        more = {name: getattr(self, name) + n for name, n in asdict(taken).items()}
        return IngestResult(self.batches + 1, **more)


def sync(
    store: Store,
    sources: Iterable[str] | None = None,
    *,
    tell: bool = True,
    refreshes: bool = True,
) -> IngestResult:
    """Everything new of these sources, or of all on this machine. `refreshes`: what hooks are told
    of the shared work is written again; whoever follows the events does that anyway."""
    known = positions_of(store)
    done = IngestResult()
    for source in gather.sources() if sources is None else sources:
        done = _source(store, source, known.get(source, {}), done, tell)
    if refreshes:
        refresh.refresh(store)
    return done


def positions_of(store: Store) -> dict[str, Position]:
    query = sa.select(positions.c.source, positions.c.position)
    return store.read(lambda c: {name: found or {} for name, found in c.execute(query)})


def _source(
    store: Store, source: str, position: Position, done: IngestResult, tell: bool
) -> IngestResult:
    for _ in range(MOST_STEPS):
        try:
            batch = gather.gather(source, position)
        except OSError as error:  # one window that cannot be read holds up no other
            log.add("ERROR", "sync", f"{source} was not read: {error}")
            return done
        if batch is None:
            return done
        try:
            done = done.and_also(store.write(partial(take, batch=batch, tell=tell)))
            position = batch.until
        except Behind as error:
            position = error.position
    return done

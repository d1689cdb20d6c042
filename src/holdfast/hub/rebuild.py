"""Build rows again from hooks, transcripts and checkpoints; what people wrote stays.

Only sessions of this machine are rebuilt. Sessions whose windows are gone, or that other machines
reported, stay as they are.

A damaged SQLite file loses no row that can be read: the rows on its sound pages come first, then
those that only the nightly copy has, then what can be built again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest.sync import IngestResult, lock_source, sync
from holdfast.hub.store.backup import nightly_path
from holdfast.hub.store.engine import default_url, shown_url
from holdfast.hub.store.rows import announce, update
from holdfast.hub.store.salvage import save
from holdfast.hub.store.schema import set_aside_if_damaged
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    audit,
    positions,
    requests,
    sessions,
    subtasks,
    tasks,
    windows,
)
from holdfast.hub.tree.contexts import SNAPSHOT
from holdfast.hub.tree.sessions import SUMS

REPORTED_VERSION = 5  # of UUIDs made by `ids.make_id`


@dataclass(frozen=True, slots=True)
class Rebuilt:
    database: str
    set_aside: str = ""  # where the damaged file went
    saved: dict[str, int] = field(default_factory=dict)  # rows read from it, by table
    synced: IngestResult = field(default_factory=IngestResult)


def rebuild(address: str = "") -> Rebuilt:
    """Rebuild the database; a damaged SQLite file is set aside, what people wrote stays."""
    address = address or default_url()
    old = set_aside_if_damaged(address)
    return _fill(address, old)


def heal(address: str = "") -> Rebuilt | None:
    """Rebuild a damaged file as `rebuild` does; a sound database is left alone."""
    address = address or default_url()
    old = set_aside_if_damaged(address)
    return _fill(address, old) if old else None


def _fill(address: str, old: Path | None) -> Rebuilt:
    store = Store.open(address)
    try:
        set_aside.forget()
        if old is None:
            forget(store, gather.sources())
        saved = save(store, [old, nightly_path(store.engine)]) if old else {}
        synced = sync(store, announce=False)
        store.write(partial(_finish, damaged=old is not None))
    finally:
        store.close()
    return Rebuilt(shown_url(store.engine.url), str(old or ""), saved, synced)


def _finish(connection: sa.Connection, damaged: bool) -> None:
    """Sum up the calls of each session again, whichever way its actions came."""
    for session_id in connection.scalars(sa.select(sessions.c.id)).all() if damaged else ():
        update(connection, sessions, session_id, sums(connection, session_id))
    announce(connection, "store.rebuilt", {"damaged": damaged})


def forget(store: Store, sources: Iterable[str]) -> None:
    """Delete the rows and positions of these sources. A row above something that people wrote
    stays, and is updated.

    All sources of a session are forgotten in one transaction: a server that ingests one of them in
    between would have its rows removed with those of the next.
    """
    by_session: dict[str, list[str]] = {}
    for source in sources:
        by_session.setdefault(gather.session_of(source), []).append(source)
    for session_id, own in by_session.items():
        store.write(partial(_forget, sources=own, session_id=session_id))


def _forget(connection: sa.Connection, sources: Sequence[str], session_id: str) -> None:
    """Hold the lock of each source: a process that ingests one has finished, or starts over."""
    for source in sorted(sources):
        lock_source(connection, source)
    connection.execute(sa.delete(positions).where(positions.c.source.in_(sources)))
    if any(source.startswith(gather.AUDIT) for source in sources):
        connection.execute(sa.delete(audit).where(_is_ingested(audit)))
    if not session_id:
        return
    for query in _ingested_rows_of(session_id):
        connection.execute(query)
    fresh = {"compact_count": 0, "compacted_ms": None, "compact_summary": None, "ended_ms": None}
    update(connection, sessions, session_id, {**sums(connection, session_id), **fresh})


def _ingested_rows_of(session_id: str) -> Iterator[sa.Delete]:
    """Yield the deletions, from the leaves to the root."""
    done = sa.exists().where(actions.c.subtask_id == subtasks.c.id)
    parts = sa.exists().where(subtasks.c.task_id == tasks.c.id)
    listed = sa.exists().where(tasks.c.request_id == requests.c.id)
    in_session = sa.select(requests.c.id).where(requests.c.session_id == session_id)
    is_agent = agent_contexts.c.agent_type != SNAPSHOT
    left = {actions: sa.true(), subtasks: ~done, tasks: ~parts, requests: ~listed}
    for table, may_go in {**left, agent_contexts: is_agent}.items():
        is_mine = (
            tasks.c.request_id.in_(in_session)
            if table is tasks
            else table.c.session_id == session_id
        )
        yield sa.delete(table).where(is_mine, _is_ingested(table), may_go)
    yield sa.delete(windows).where(windows.c.session_id == session_id)


def _is_ingested(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.func.substr(table.c.id, 15, 1) == str(REPORTED_VERSION)


def sums(connection: sa.Connection, session_id: str) -> dict[str, int]:
    """Count a session's totals."""
    worked, took = sa.case((actions.c.exit_code == 0, 1), else_=0), actions.c.duration_ms
    sums = [sa.func.coalesce(sa.func.sum(column), 0) for column in (worked, took)]
    query = sa.select(sa.func.count(), *sums, sa.func.count(took))
    found = connection.execute(query.where(actions.c.session_id == session_id)).one()
    calls, succeeded, took_ms, timed = map(int, found)
    return dict(zip(SUMS, (calls, succeeded, calls - succeeded, took_ms, timed), strict=True))

"""Build rows again from hooks, transcripts and checkpoints; what people wrote stays.

Only sessions of this machine are rebuilt. Sessions whose windows are gone, or that other machines
reported, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.ingest import gather
from holdfast.hub.ingest.sync import IngestResult, lock_source, sync
from holdfast.hub.repair import salvage
from holdfast.hub.store import pending_writes
from holdfast.hub.store.engine import default_url
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
from holdfast.hub.tree import projects
from holdfast.hub.tree.agent_contexts import SNAPSHOT

REPORTED_VERSION = 5  # of UUIDs made by `ids.make_id`


@dataclass(frozen=True, slots=True)
class Rebuilt:
    database: str
    set_aside: str = ""  # where the damaged file went
    saved: dict[str, int] = field(default_factory=dict)  # rows read from it, by table
    synced: IngestResult = field(default_factory=IngestResult)


def rebuild(address: str = "") -> Rebuilt:
    """Rebuild the database. A damaged SQLite file is set aside and reported; a sound database
    keeps what people wrote."""
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
        if old is None:
            forget(store, gather.sources())
        synced = sync(store, announce=False)
        saved = salvage.save(store, old) if old else {}
        store.write(projects.recount)
        store.write(
            lambda c: pending_writes.announce(c, "store.rebuilt", {"damaged": old is not None})
        )
    finally:
        store.close()
    return Rebuilt(_address_without_password(store), str(old or ""), saved, synced)


def _address_without_password(store: Store) -> str:
    return store.engine.url.render_as_string(hide_password=True)


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


def _forget(connection: Connection, sources: Sequence[str], session_id: str) -> None:
    """Under the lock of each source: whoever ingests a batch of one is done, or begins again."""
    for source in sorted(sources):
        lock_source(connection, source)
    connection.execute(sa.delete(positions).where(positions.c.source.in_(sources)))
    if any(source.startswith(gather.AUDIT) for source in sources):
        connection.execute(sa.delete(audit).where(_is_ingested(audit)))
    if not session_id:
        return
    for query in _ingested_rows_of(session_id):
        connection.execute(query)
    totals = salvage.sums(connection, session_id)
    fresh = {"compact_count": 0, "compacted_ms": None, "compact_summary": None, "ended_ms": None}
    mine = sa.update(sessions).where(sessions.c.id == session_id)
    connection.execute(mine.values({**totals, **fresh}))


def _ingested_rows_of(session_id: str) -> list[sa.Delete]:
    """Return the deletions, from the leaves to the root."""
    asked = sa.select(requests.c.id).where(requests.c.session_id == session_id)
    done = sa.exists().where(actions.c.subtask_id == subtasks.c.id)
    parts = sa.exists().where(subtasks.c.task_id == tasks.c.id)
    listed = sa.exists().where(tasks.c.request_id == requests.c.id)
    tracked = windows.c.health["basis"].as_string() == "tracked"
    return [
        sa.delete(actions).where(actions.c.session_id == session_id, _is_ingested(actions)),
        sa.delete(subtasks).where(
            subtasks.c.session_id == session_id, _is_ingested(subtasks), ~done
        ),
        sa.delete(tasks).where(tasks.c.request_id.in_(asked), _is_ingested(tasks), ~parts),
        sa.delete(requests).where(
            requests.c.session_id == session_id, _is_ingested(requests), ~listed
        ),
        sa.delete(agent_contexts).where(
            agent_contexts.c.session_id == session_id,
            agent_contexts.c.agent_type != SNAPSHOT,
            _is_ingested(agent_contexts),
        ),
        sa.delete(windows).where(
            windows.c.session_id == session_id, windows.c.health.is_(None) | ~tracked
        ),
    ]


def _is_ingested(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.func.substr(table.c.id, 15, 1) == str(REPORTED_VERSION)

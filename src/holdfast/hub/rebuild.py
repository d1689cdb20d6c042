"""Build rows again from hooks, transcripts and checkpoints; what people wrote stays.

Only sessions of this machine are rebuilt. Sessions whose windows are gone, or that other machines
reported, stay as they are.

A damaged SQLite file loses no row that can be read: the rows on its sound pages come first, then
those that only the nightly copy has, then what can be built again. A file is read page by page,
because SQLite itself stops at the first damaged page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest.sync import IngestResult, lock_source, sync
from holdfast.hub.store import events
from holdfast.hub.store.backup import nightly_path
from holdfast.hub.store.engine import default_url, shown_url
from holdfast.hub.store.rows import Row, count, update
from holdfast.hub.store.schema import set_aside_if_damaged
from holdfast.hub.store.sqlite_pages import RawFile, RawRow, open_raw_file
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    Json,
    actions,
    agent_contexts,
    audit,
    metadata,
    positions,
    projects,
    requests,
    sessions,
    subtasks,
    tasks,
    windows,
)
from holdfast.hub.tree.sessions import SUMS
from holdfast.hub.tree.snapshots import SNAPSHOT

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
        set_aside.forget()
        if old is None:
            forget(store, gather.sources())
        saved = save(store, [old, nightly_path(store.engine)]) if old else {}
        synced = sync(store, announce=False)
        store.write(partial(_finish, damaged=old is not None))
    finally:
        store.close()
    return Rebuilt(shown_url(store.engine.url), str(old or ""), saved, synced)


def _finish(connection: Connection, damaged: bool) -> None:
    """Sum up the calls of each session again, whichever way its actions came."""
    for session_id in connection.scalars(sa.select(sessions.c.id)).all() if damaged else ():
        update(connection, sessions, session_id, sums(connection, session_id))
    events.announce(connection, "store.rebuilt", {"damaged": damaged})


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


def _ingested_rows_of(session_id: str) -> list[sa.Delete]:
    """Return the deletions, from the leaves to the root."""
    request_ids = sa.select(requests.c.id).where(requests.c.session_id == session_id)
    done = sa.exists().where(actions.c.subtask_id == subtasks.c.id)
    parts = sa.exists().where(subtasks.c.task_id == tasks.c.id)
    listed = sa.exists().where(tasks.c.request_id == requests.c.id)
    return [
        sa.delete(actions).where(actions.c.session_id == session_id, _is_ingested(actions)),
        sa.delete(subtasks).where(
            subtasks.c.session_id == session_id, _is_ingested(subtasks), ~done
        ),
        sa.delete(tasks).where(tasks.c.request_id.in_(request_ids), _is_ingested(tasks), ~parts),
        sa.delete(requests).where(
            requests.c.session_id == session_id, _is_ingested(requests), ~listed
        ),
        sa.delete(agent_contexts).where(
            agent_contexts.c.session_id == session_id,
            agent_contexts.c.agent_type != SNAPSHOT,
            _is_ingested(agent_contexts),
        ),
        sa.delete(windows).where(windows.c.session_id == session_id),
    ]


def _is_ingested(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.func.substr(table.c.id, 15, 1) == str(REPORTED_VERSION)


class RowsLeft:
    """The complete rows of each table."""

    def __init__(self, file: RawFile, tables: Sequence[sa.Table]) -> None:
        self._file = file
        self._pages: dict[str, list[int]] = {}
        for number in file.leaves():
            found = _table_of(file.rows(number).values(), tables)
            if found is not None:
                self._pages.setdefault(found.name, []).append(number)

    def of(self, table: sa.Table) -> Iterator[Row]:
        for number in self._pages.get(table.name, ()):
            for values in self._file.rows(number).values():
                if (row := _fit_row(table, values)) is not None:
                    yield row


@contextmanager
def rows_left(path: Path, tables: Sequence[sa.Table]) -> Iterator[RowsLeft]:
    with open_raw_file(path) as file:
        yield RowsLeft(file, tables)


def _table_of(rows: Iterable[RawRow], tables: Sequence[sa.Table]) -> sa.Table | None:
    """Return the table that most of the rows fit; the first of two that fit equally."""
    fits: Counter[sa.Table] = Counter()
    for values in rows:
        fits.update(table for table in tables if _fit_row(table, values) is not None)
    return max(tables, key=lambda table: fits[table]) if fits else None


def _fit_row(table: sa.Table, values: RawRow) -> Row | None:
    """Return the row, or None if its values do not fit the table."""
    if len(values) != len(table.columns):
        return None
    row: Row = {}
    for column, value in zip(table.columns, values, strict=True):
        row[column.name] = value
        if value is None:
            if not column.nullable:
                return None
        elif isinstance(column.type, Json):
            try:
                row[column.name] = json.loads(value)  # type: ignore[arg-type]
            except (TypeError, ValueError, RecursionError):
                return None
        elif not isinstance(value, int if isinstance(column.type, sa.Integer) else str):
            return None
    if table is projects and row["id"] != ids.project_id(row["path"]):
        return None  # its columns alone would fit another table too
    return row


NOT_SAVED = frozenset(("positions", "events"))
AT_ONCE = 500
LOST = "lost when the database was damaged"
NOWHERE = ids.project_id(f"/{LOST}")  # of requests and tasks whose own place is not known


def save(store: Store, files: Iterable[Path]) -> dict[str, int]:
    """Insert the rows of these files, parents first; a row of an earlier file stays. Return how
    many there were, by table."""
    saved: Counter[str] = Counter()
    wanted = [table for table in metadata.sorted_tables if table.name not in NOT_SAVED]
    for file in files:
        if not file.exists():
            continue
        with rows_left(file, wanted) as left:
            for table in wanted:
                rows = left.of(table)
                while some := list(islice(rows, AT_ONCE)):
                    saved[table.name] += store.write(partial(_put, table=table, rows=some))
    return {name: n for name, n in saved.items() if n}


def _put(connection: Connection, table: sa.Table, rows: list[Row]) -> int:
    before = count(connection, table)
    for key in table.foreign_keys:
        rows = _with_parents(connection, key, rows)
    if rows:
        connection.execute(sqlite.insert(table).on_conflict_do_nothing(), rows)
    return count(connection, table) - before


def _with_parents(connection: Connection, key: sa.ForeignKey, rows: list[Row]) -> list[Row]:
    """Return the rows whose parent is there. A lost parent gets a placeholder if it is a project, a
    request or a task; else the row stands without one, or goes."""
    name, parent = key.parent.name, key.column.table
    lost = _missing(connection, parent, {row[name] for row in rows} - {None})
    if parent in (projects, requests, tasks):
        _add_placeholders(connection, parent, sorted(lost))
        return rows
    if key.parent.nullable:
        return [{**row, name: None if row[name] in lost else row[name]} for row in rows]
    return [row for row in rows if row[name] not in lost]


def _missing(connection: Connection, parent: sa.Table, wanted: set[str]) -> set[str]:
    there = connection.scalars(sa.select(parent.c.id).where(parent.c.id.in_(wanted)))
    return wanted - set(there)


def _add_placeholders(connection: Connection, table: sa.Table, lost: list[str]) -> None:
    """The path of a project is filled in when a session in it reports: the id is made from it."""
    if not lost:
        return
    required = [column for column in table.columns if not column.nullable and column.name != "id"]
    row = {one.name: 0 if isinstance(one.type, sa.Integer) else LOST for one in required}
    for key in table.foreign_keys:  # the placeholder's parent is a placeholder too
        row[key.parent.name] = NOWHERE
        missing = _missing(connection, key.column.table, {NOWHERE})
        _add_placeholders(connection, key.column.table, sorted(missing))
    whole = [{**row, "id": one} for one in lost]
    if table is projects:
        for project in whole:
            mine = "" if project["id"] == NOWHERE else f"/{project['id']}"
            project["path"] = f"/{LOST}{mine}"
    connection.execute(sa.insert(table), whole)


def sums(connection: Connection, session_id: str) -> dict[str, int]:
    """Count a session's totals."""
    worked = sa.case((actions.c.exit_code == 0, 1), else_=0)
    took = actions.c.duration_ms
    found = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(worked), 0),
            sa.func.coalesce(sa.func.sum(took), 0),
            sa.func.count(took),
        ).where(actions.c.session_id == session_id)
    ).one()
    calls, succeeded, took_ms, timed = map(int, found)
    return dict(zip(SUMS, (calls, succeeded, calls - succeeded, took_ms, timed), strict=True))

"""Build rows again from hooks, transcripts and checkpoints; what people wrote stays.

Only sessions of this machine are rebuilt. Sessions whose windows are gone, or that other machines
reported, stay as they are.

From a damaged SQLite file, rows that nothing else can restore are copied into the new one. The file
is read page by page, because SQLite itself stops at the first damaged page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest.sync import IngestResult, lock_source, sync
from holdfast.hub.store import events
from holdfast.hub.store.engine import default_url, shown_url
from holdfast.hub.store.rows import Row
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
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.hub.tree.sessions import SUMS

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
        synced = sync(store, announce=False)
        saved = save(store, old) if old else {}
        store.write(lambda c: events.announce(c, "store.rebuilt", {"damaged": old is not None}))
    finally:
        store.close()
    return Rebuilt(_address_without_password(store), str(old or ""), saved, synced)


def _address_without_password(store: Store) -> str:
    return shown_url(store.engine.url)


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
    totals = sums(connection, session_id)
    fresh = {"compact_count": 0, "compacted_ms": None, "compact_summary": None, "ended_ms": None}
    mine = sa.update(sessions).where(sessions.c.id == session_id)
    connection.execute(mine.values({**totals, **fresh}))


def _ingested_rows_of(session_id: str) -> list[sa.Delete]:
    """Return the deletions, from the leaves to the root."""
    request_ids = sa.select(requests.c.id).where(requests.c.session_id == session_id)
    done = sa.exists().where(actions.c.subtask_id == subtasks.c.id)
    parts = sa.exists().where(subtasks.c.task_id == tasks.c.id)
    listed = sa.exists().where(tasks.c.request_id == requests.c.id)
    tracked = windows.c.health["basis"].as_string() == "tracked"
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
        sa.delete(windows).where(
            windows.c.session_id == session_id, windows.c.health.is_(None) | ~tracked
        ),
    ]


def _is_ingested(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.func.substr(table.c.id, 15, 1) == str(REPORTED_VERSION)


# Where the kinds of the columns alone would fit another table too.
_LOOKS: dict[str, Callable[[Row], bool]] = {
    "projects": lambda row: row["id"] == ids.project_id(row["path"]),
}


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
    looks = _LOOKS.get(table.name)
    return row if looks is None or looks(row) else None


NOT_SAVED = frozenset(("positions", "events"))
AT_ONCE = 500
LOST = "lost when the database was damaged"
NOWHERE = ids.project_id(f"/{LOST}")  # of requests and tasks whose own place is not known


def save(store: Store, old: Path) -> dict[str, int]:
    """Insert the damaged file's rows that are still missing, parents first. A row whose parent
    is lost gets a placeholder parent. Existing rows are left alone."""
    saved: dict[str, int] = {}
    wanted = [table for table in metadata.sorted_tables if table.name not in NOT_SAVED]
    with rows_left(old, wanted) as left:
        for table in wanted:
            rows = left.of(table)
            n = 0
            while some := list(islice(rows, AT_ONCE)):
                n += store.write(partial(_put, table=table, rows=some))
            if n:
                saved[table.name] = n
    for session_id in store.read(lambda c: list(c.execute(sa.select(sessions.c.id)).scalars())):
        store.write(partial(_count_again, session_id=session_id))
    return saved


def _put(connection: Connection, table: sa.Table, rows: list[Row]) -> int:
    before = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
    whole = list(_with_parents(connection, table, rows))
    if whole:
        statement: Any = sqlite.insert(table).on_conflict_do_nothing()
        connection.execute(statement, whole)
    return (connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0) - before


def _with_parents(connection: Connection, table: sa.Table, rows: list[Row]) -> Iterator[Row]:
    for key in table.foreign_keys:
        name, parent = key.parent.name, key.column.table
        lost = _missing(connection, parent, {row[name] for row in rows} - {None})
        if parent.name in _STAND_INS:
            _add_placeholders(connection, parent, sorted(lost))
        elif key.parent.nullable:
            rows = [{**row, name: None if row[name] in lost else row[name]} for row in rows]
        else:
            rows = [row for row in rows if row[name] not in lost]
    yield from rows


def _missing(connection: Connection, parent: sa.Table, wanted: set[str]) -> set[str]:
    found = connection.execute(sa.select(parent.c.id).where(parent.c.id.in_(wanted))).scalars()
    return wanted - set(found)


def _add_placeholders(connection: Connection, table: sa.Table, lost: list[str]) -> None:
    if not lost:
        return
    rows = [_STAND_INS[table.name](one) for one in lost]
    for key in table.foreign_keys:  # the placeholder's parent is a placeholder too
        parent = key.column.table
        _add_placeholders(connection, parent, sorted(_missing(connection, parent, {NOWHERE})))
    connection.execute(sa.insert(table), rows)


def _lost_project(project_id: str) -> Row:
    """Make a placeholder project. Its path is filled in when a session in it reports: the id is
    made from it."""
    path = f"/{LOST}" if project_id == NOWHERE else f"/{LOST}/{project_id}"
    return {"id": project_id, "path": path, "metadata": {}, "created_ms": 0, "updated_ms": 0}


def _lost_request(request_id: str) -> Row:
    place = {"id": request_id, "project_id": NOWHERE, "session_id": LOST}
    return {**place, "prompt": LOST, "prompt_type": "other", "status": "active", "created_ms": 0}


def _lost_task(task_id: str) -> Row:
    place = {"id": task_id, "request_id": NOWHERE, "wave_number": 1}
    return {**place, "name": LOST, "status": "pending", "created_ms": 0}


_STAND_INS: dict[str, Callable[[str], Row]] = {
    projects.name: _lost_project,
    requests.name: _lost_request,
    tasks.name: _lost_task,
}


def _count_again(connection: Connection, session_id: str) -> None:
    mine = sa.update(sessions).where(sessions.c.id == session_id)
    connection.execute(mine.values(sums(connection, session_id)))


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

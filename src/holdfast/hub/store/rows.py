"""Rows as plain values: read, read as a page of a list, inserted or changed in one statement on
both engines, and announced. `RowCache` fetches rows of one table together, lets a caller change
them in memory, and writes them back together.

Events for listeners are written at the end of the transaction that caused them, and numbered in the
order of commits, on both engines: a listener asks for what came after the last number it saw.

Statements of the busiest paths are built once: building one costs several times what running it
does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.dml import Insert

from holdfast.hub.errors import NotThere
from holdfast.hub.row_times import now_ms, to_iso
from holdfast.hub.store.tables import events

MOST_COUNTED = 100_000
FETCHED_AT_ONCE = 500
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Row]
    total: int
    limit: int
    offset: int


def first(
    connection: Connection, query: sa.Select[Any], given: Mapping[str, Any] | None = None
) -> Row | None:
    row = connection.execute(query, given).mappings().first()
    return None if row is None else dict(row)


def rows(
    connection: Connection, query: sa.Select[Any], given: Mapping[str, Any] | None = None
) -> list[Row]:
    """Fetch all rows together: that costs half of one by one. `given`: a cached query's values."""
    found = connection.execute(query, given)
    names = tuple(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found.all()]


def fetch(
    connection: Connection,
    table: sa.Table,
    *where: sa.ColumnElement[bool],
    order: Sequence[Any] = (),
    most: int | None = None,
    start: int | None = None,
) -> list[Row]:
    """Fetch the rows of a table that match."""
    query = sa.select(table).where(*where).order_by(*order)
    return rows(connection, query.limit(most).offset(start))


def pick(record: object, *names: str) -> Row:
    """Return these attributes of a record, which are columns of the same names."""
    return {name: getattr(record, name) for name in names}


DURATIONS = frozenset(("total_duration_ms", "duration_ms", "age_ms", "left_ms"))


def is_time(name: str) -> bool:
    """Return whether this column is a point in time; `duration_ms` is none."""
    return name.endswith("_ms") and name not in DURATIONS


@cache
def public_name(name: str) -> str:
    """Return the name of a column in answers: `created_ms` becomes `created_at`, `at_ms` `at`."""
    return f"{name[:-3]}_at".removeprefix("at_") if is_time(name) else name


def with_public_times(row: Row) -> Row:
    """Replace points in time by their public form."""
    return {
        public_name(name): to_iso(value) if is_time(name) else value for name, value in row.items()
    }


def noun_of(table: sa.Table) -> str:
    """Return what a person calls a row of this table: "Task", "Agent context"."""
    return table.name.removesuffix("s").replace("_", " ").capitalize()


def find(connection: Connection, row_id: Any, *, table: sa.Table, lock: bool = False) -> Row | None:
    """Return a row by its id; `lock` holds it until the end of the transaction."""
    query = sa.select(table).where(table.c.id == row_id)
    return first(connection, query.with_for_update(key_share=True) if lock else query)


def get(connection: Connection, row_id: str, *, table: sa.Table, lock: bool = False) -> Row:
    """Return a row by its id; raise `NotThere` if there is none."""
    row = find(connection, row_id, table=table, lock=lock)
    if row is None:
        raise NotThere(noun_of(table))
    return row


def matching(table: sa.Table, **wanted: object) -> list[sa.ColumnElement[bool]]:
    """Build the conditions on columns of a table, or of the row above; None: any value."""
    return [_has(table, name, value) for name, value in wanted.items() if value is not None]


def _has(table: sa.Table, name: str, value: object) -> sa.ColumnElement[bool]:
    if name in table.c:
        return table.c[name] == value
    [key] = table.foreign_keys
    above = sa.select(key.column).where(_has(key.column.table, name, value))
    return key.parent.in_(above)


def newest_first(table: sa.Table) -> tuple[sa.ColumnElement[Any], ...]:
    return table.c.created_ms.desc(), table.c.id.desc()


def oldest_first(table: sa.Table) -> tuple[sa.ColumnElement[Any], ...]:
    return table.c.created_ms, table.c.id


def fetch_page(connection: Connection, query: sa.Select[Any], limit: int, offset: int) -> Page:
    """Fetch one page of a list. Filtered rows are counted up to `MOST_COUNTED`."""
    some = query.order_by(None).with_only_columns(sa.literal(1), maintain_column_froms=True)
    if query.whereclause is not None:
        some = some.limit(MOST_COUNTED)
    total = count(connection, some.subquery())
    return Page(rows(connection, query.limit(limit).offset(offset)), total, limit, offset)


def page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    table: sa.Table,
    order: Sequence[Any] = (),
    columns: Sequence[Any] = (),
    where: Sequence[sa.ColumnElement[bool]] = (),
    **wanted: object,
) -> Page:
    """List the rows of a table with these values, newest first unless an order is given."""
    query = sa.select(*(columns or [table])).where(*where, *matching(table, **wanted))
    return fetch_page(connection, query.order_by(*(order or newest_first(table))), limit, offset)


def count(connection: Connection, rows: sa.FromClause) -> int:
    return connection.scalar(sa.select(sa.func.count()).select_from(rows)) or 0


def remove(connection: Connection, table: sa.Table, **which: object) -> Row:
    """Delete the row with these values and return it; raise `NotThere` if there is none."""
    mine = sa.delete(table).where(*matching(table, **which))
    gone = connection.execute(mine.returning(table)).mappings().first()
    if gone is None:
        raise NotThere(noun_of(table))
    return dict(gone)


def update(connection: Connection, table: sa.Table, row_id: str, changes: Row) -> None:
    connection.execute(sa.update(table).where(table.c.id == row_id).values(changes))


def upsert(
    connection: Connection,
    table: sa.Table,
    key: Sequence[str],
    row: Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    *,
    only: sa.ColumnElement[bool] | None = None,
) -> Insert:
    """Insert a row, or update it. `changes`: what to set on an existing row (None: everything, {}:
    nothing). `only`: leave an existing row that does not match this as it is."""
    statement = insert_into(connection.dialect.name, table).values(dict(row))
    if changes is None:
        changes = {name: statement.excluded[name] for name in row if name not in key}
    if not changes:
        done: Insert = statement.on_conflict_do_nothing(index_elements=list(key))
        return done
    done = statement.on_conflict_do_update(index_elements=list(key), set_=dict(changes), where=only)
    return done


def put(connection: Connection, table: sa.Table, key: Sequence[str], row: Row) -> None:
    """Insert a row, or replace it."""
    connection.execute(upsert(connection, table, key, row))


def put_and_get(
    connection: Connection, table: sa.Table, key: Sequence[str], row: Row, changes: Row
) -> Row:
    """Insert a row, or make these changes to the one with its key; return it as it is then."""
    statement = upsert(connection, table, key, row, changes).returning(table)
    return dict(connection.execute(statement).mappings().one())


def put_new(connection: Connection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless one is there by any unique index; return whether it was inserted."""
    return connection.execute(_new_row(connection.dialect.name, table), dict(row)).rowcount > 0


@cache
def _new_row(dialect: str, table: sa.Table) -> Insert:
    statement: Insert = insert_into(dialect, table).on_conflict_do_nothing()
    return statement


def insert_into(dialect: str, table: sa.Table) -> Any:
    """Return an INSERT with `on_conflict_…`. PostgreSQL's dialect is imported only when used: that
    takes four times as long as SQLite's."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


KEEP_MS = 24 * 3_600_000
MOST_LIVE_EVENTS = 100_000
_ORDER_LOCK = 0x401DFA57
_PENDING = "holdfast_events"


def announce(
    connection: Connection,
    kind: str,
    body: Row | None = None,
    row: Row | None = None,
    *,
    at_ms: int | None = None,
    **place: Any,
) -> None:
    """Send an event once the transaction is committed, in the row's place or a given one."""
    about = {name: place.get(name, (row or {}).get(name)) for name in ("project_id", "session_id")}
    at_ms = now_ms() if at_ms is None else at_ms
    _pending(connection).append({"kind": kind, **about, "body": body or {}, "at_ms": at_ms})


def tell(
    connection: Connection, kind: str, row: Row, *names: str, at_ms: int | None = None, **place: Any
) -> Row:
    """Announce a change of a row with these columns of it; return the row."""
    announce(connection, kind, {name: row[name] for name in names}, row, at_ms=at_ms, **place)
    return row


def clear_events(connection: Connection) -> None:
    """Drop the events of this transaction: nobody is told of them."""
    _pending(connection).clear()


def write_events(connection: Connection) -> None:
    """Write the events. A lock until the commit keeps a later one from a lower number."""
    pending = _pending(connection)
    if not pending:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ORDER_LOCK)))
    connection.execute(sa.insert(events).inline(), pending)  # its number is not asked for
    connection.info[_PENDING] = []


def _pending(connection: Connection) -> list[Row]:
    pending: list[Row] = connection.info.setdefault(_PENDING, [])
    return pending


@dataclass(frozen=True, slots=True)
class EventsSince:
    """Events after a number. `last` is the number to continue from, also with a filter."""

    rows: list[Row]
    last: int
    more: bool
    missed: bool = False  # events after the requested number were pruned


def newest_event(connection: Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(events.c.id))) or 0


def events_since(connection: Connection, after: int, limit: int, **of: str | None) -> EventsSince:
    """List events after a number, oldest first. If the number is higher than any event's (it came
    from another database), list none and continue from the newest."""
    last = newest_event(connection)
    if after >= last:
        return EventsSince([], last, more=False, missed=after > last)
    since = events.c.id > after, events.c.id <= last, *matching(events, **of)
    query = sa.select(events).where(*since).order_by(events.c.id).limit(limit)
    found = rows(connection, query)
    more = len(found) == limit and found[-1]["id"] < last
    oldest = connection.scalar(sa.select(sa.func.min(events.c.id))) or 0
    return EventsSince(found, found[-1]["id"] if more else last, more, 0 < after < oldest - 1)


def prune_events(connection: Connection, now_ms: int) -> int:
    """Delete events that are older than one day, and the oldest of more than a fixed number."""
    newest = newest_event(connection)
    too_old = events.c.at_ms < now_ms - KEEP_MS
    too_many = events.c.id <= newest - MOST_LIVE_EVENTS
    # The newest is never deleted: the next number follows it, and listeners compare with it.
    statement = sa.delete(events).where(events.c.id < newest, too_old | too_many)
    return connection.execute(statement).rowcount


class RowCache:
    """`get` and `put` by id; `flush` writes what is new or changed, in two statements."""

    def __init__(self, connection: Connection, table: sa.Table, ids: Iterable[str]) -> None:
        self._connection, self._table = connection, table
        self._before: dict[str, Row] = {}
        self.rows: dict[str, Row] = {}
        self.fetch(ids)

    def fetch(self, ids: Iterable[str]) -> None:
        """Fetch rows and lock them until the end of the transaction."""
        wanted = sorted({row_id for row_id in ids if row_id} - self.rows.keys())
        for some in _chunks(wanted):
            for row in rows(self._connection, _locked_rows(self._table), {"ids": some}):
                self._before[row["id"]] = dict(row)
                self.rows[row["id"]] = row

    def get(self, row_id: str) -> Row | None:
        return self.rows.get(row_id)

    def put(self, row: Row) -> Row:
        """Add a row; columns that it does not name are None."""
        whole = {**dict.fromkeys(column.name for column in self._table.columns), **row}
        self.rows[row["id"]] = whole
        return whole

    def drop(self, row_id: str) -> None:
        """Forget a row; `delete_dropped` deletes it if it was stored."""
        self.rows.pop(row_id, None)

    def before(self, row_id: str) -> Row | None:
        return self._before.get(row_id)

    @property
    def added(self) -> list[Row]:
        return [row for row_id, row in self.rows.items() if row_id not in self._before]

    @property
    def changed(self) -> list[Row]:
        known = self._before
        return [row for row_id, row in self.rows.items() if row != known.get(row_id, row)]

    def flush(self) -> tuple[list[Row], list[Row]]:
        """Write added and changed rows and return both."""
        added, changed = self.added, self.changed
        if added:
            self._connection.execute(sa.insert(self._table), added)
        if changed:
            bound = [{f"b_{name}": value for name, value in row.items()} for row in changed]
            self._connection.execute(_update_row(self._table), bound)
        self._before |= {row["id"]: dict(row) for row in (*added, *changed)}
        return added, changed

    def delete_dropped(self) -> int:
        """Delete stored rows that were dropped; return their number. Flush referring rows first."""
        gone = sorted(self._before.keys() - self.rows.keys())
        for some in _chunks(gone):
            self._connection.execute(sa.delete(self._table).where(self._table.c.id.in_(some)))
        return len(gone)


@cache
def _locked_rows(table: sa.Table) -> sa.Select[Any]:
    mine = table.c.id.in_(sa.bindparam("ids", expanding=True))
    return sa.select(table).where(mine).with_for_update(key_share=True)


@cache
def _update_row(table: sa.Table) -> sa.Update:
    columns = [column.name for column in table.columns if column.name != "id"]
    values: dict[str, Any] = {name: sa.bindparam(f"b_{name}") for name in columns}
    return sa.update(table).where(table.c.id == sa.bindparam("b_id")).values(values)


def _chunks(wanted: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(wanted), FETCHED_AT_ONCE):
        yield wanted[start : start + FETCHED_AT_ONCE]

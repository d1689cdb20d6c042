"""The rows that a transaction writes at its end, and how SQLite writes them.

There is one statement for each table, `Growth` and `RowTally`; its text is cached.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from holdfast.hub.store.tables import Json, events

Row: TypeAlias = dict[str, Any]


class RowChanged(Exception):
    """A row that was read before is gone or has another parent now: read it again."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """How rows of a table grow: the columns `sums` are added to, and the time in `latest` never
    goes back. `within` is the column of the parent. A change may name a parent; then the row must
    have the same."""

    table: sa.Table
    sums: tuple[str, ...]
    latest: str
    within: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ("id", self.within, *self.sums, self.latest)

    def merge(self, given: Iterable[Row]) -> list[Row]:
        """Merge all changes of a row into one, because an UPDATE applies only one of them."""
        found: dict[str, Row] = {}
        for row in given:
            known = found.get(row["id"])
            found[row["id"]] = row if known is None else self._add(known, row)
        return [found[row_id] for row_id in sorted(found)]

    def _add(self, row: Row, other: Row) -> Row:
        parents = {row[self.within], other[self.within]} - {None}
        if len(parents) > 1:
            raise RowChanged(f"{row['id']} has two values of {self.within}")
        sums = {name: row[name] + other[name] for name in self.sums}
        last = max(row[self.latest], other[self.latest])
        parent = next(iter(parents), None)
        return {**row, **sums, self.latest: last, self.within: parent}


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """A table of counts: a change adds to the column `n` of a row, or creates the row."""

    table: sa.Table
    key: tuple[str, ...]

    def merge(self, given: Iterable[tuple[tuple[str, ...], int]]) -> list[Row]:
        found: dict[tuple[str, ...], int] = {}
        for key, by in given:
            found[key] = found.get(key, 0) + by
        return [
            {**dict(zip(self.key, key, strict=True)), "n": found[key]}
            for key in sorted(found)
            if found[key]
        ]


@dataclass(slots=True)
class WriteBatch:
    rows: dict[sa.Table, list[Row]] = field(default_factory=dict)
    grown: dict[Growth, list[Row]] = field(default_factory=dict)
    tallies: dict[RowTally, list[Row]] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.rows or self.grown or self.tallies or self.events)


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


@cache
def columns(table: sa.Table) -> tuple[str, ...]:
    """Return the columns that an INSERT fills: all except autoincremented ones."""
    return tuple(column.name for column in table.columns if column.autoincrement is not True)


def write_to_sqlite(connection: Connection, batch: WriteBatch, *, last: bool = False) -> None:
    """Write a batch. Raises `RowChanged` if a row is missing. `last` matters to PostgreSQL only."""
    del last
    for growth, grown in batch.grown.items():
        if _run(connection, _build_update(growth), grown) != len(grown):
            raise RowChanged(growth.table.name)
    for table, given in batch.rows.items():
        _run(connection, _build_insert(table), _encode_json_columns(table, given))
    for tally, counted in batch.tallies.items():
        _run(connection, _build_upsert(tally), counted)
    if batch.events:
        _run(connection, _build_insert(events), _encode_json_columns(events, batch.events))


def _run(connection: Connection, statement: str, rows: list[Row]) -> int:
    """Run a statement for each row and return how many rows it changed. A single row goes to the
    driver: SQLAlchemy takes 25 µs for each of the five statements of an action. After an error it
    runs the statement again, unless SQLite has ended the transaction, and reports what is wrong."""
    driver: Any = connection.connection.driver_connection
    if len(rows) == 1 and driver.in_transaction:
        try:
            changed: int = driver.execute(statement, rows[0]).rowcount
            return changed
        except sqlite3.Error as error:
            if not driver.in_transaction:
                raise as_sqlalchemy_error(connection, statement, error) from error
    return connection.exec_driver_sql(statement, rows).rowcount


def as_sqlalchemy_error(connection: Connection, statement: str, error: Exception) -> Exception:
    """Return an error of the driver as SQLAlchemy raises it."""
    dialect, driver = connection.dialect, connection.connection.driver_connection
    return DBAPIError.instance(
        statement,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=dialect.is_disconnect(error, driver, None),  # type: ignore[arg-type]
        dialect=dialect,
    )


@cache
def _build_update(growth: Growth) -> str:
    sums = ", ".join(f"{name} = {name} + :{name}" for name in growth.sums)
    last, within = growth.latest, growth.within
    return (
        f"UPDATE {growth.table.name} SET {sums}, {last} = max(coalesce({last}, 0), :{last})"
        f" WHERE id = :id AND (:{within} IS NULL OR {within} = :{within})"
    )


@cache
def _build_insert(table: sa.Table) -> str:
    names = columns(table)
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({values})"


@cache
def _build_upsert(tally: RowTally) -> str:
    key = ", ".join(tally.key)
    return f"{_build_insert(tally.table)} ON CONFLICT ({key}) DO UPDATE SET n = n + excluded.n"


def _encode_json_columns(table: sa.Table, given: Sequence[Row]) -> list[Row]:
    """Encode JSON columns as text."""
    names = _json_columns(table)
    return [
        {
            **row,
            **{name: None if row[name] is None else encode(row[name]).decode() for name in names},
        }
        for row in given
    ]


@cache
def _json_columns(table: sa.Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns if isinstance(column.type, Json))

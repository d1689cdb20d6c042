"""A batch of what a transaction writes at its end, by kind, and how SQLite writes it: one statement
per kind. Statement texts are cached, so nothing is compiled twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.tables import Json, events

Row: TypeAlias = dict[str, Any]


class CountChange(Exception):
    """A row that existed a moment ago is gone or has moved: read it again."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """Counters of existing rows: `sums` are added up, `latest` only rises. If a value for `within`
    is given, the row must have the same."""

    table: sa.Table
    sums: tuple[str, ...]
    latest: str
    within: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ("id", self.within, *self.sums, self.latest)

    def merge(self, given: Iterable[Row]) -> list[Row]:
        """Merge the changes of each row: an UPDATE would ignore a second one for the same row."""
        found: dict[str, Row] = {}
        for row in given:
            known = found.get(row["id"])
            found[row["id"]] = row if known is None else self._add(known, row)
        return [found[row_id] for row_id in sorted(found)]

    def _add(self, row: Row, other: Row) -> Row:
        places = {row[self.within], other[self.within]} - {None}
        if len(places) > 1:
            raise CountChange(f"{row['id']} belongs to two places")
        sums = {name: row[name] + other[name] for name in self.sums}
        last = max(row[self.latest], other[self.latest])
        place = next(iter(places), None)
        return {**row, **sums, self.latest: last, self.within: place}


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """Adds to `n` of a row, or creates the row with it."""

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
    """Return the columns a row provides: all except autoincremented ones."""
    return tuple(column.name for column in table.columns if column.autoincrement is not True)


def write_to_sqlite(connection: Connection, batch: WriteBatch, *, last: bool = False) -> None:
    del last  # always within the transaction
    for growth, grown in batch.grown.items():
        if connection.exec_driver_sql(_growing(growth), grown).rowcount != len(grown):
            raise CountChange(growth.table.name)
    for table, given in batch.rows.items():
        connection.exec_driver_sql(_inserting(table), _with_text(table, given))
    for tally, counted in batch.tallies.items():
        connection.exec_driver_sql(_counting(tally), counted)
    if batch.events:
        connection.exec_driver_sql(_inserting(events), _with_text(events, batch.events))


@cache
def _growing(growth: Growth) -> str:
    sums = ", ".join(f"{name} = {name} + :{name}" for name in growth.sums)
    last, within = growth.latest, growth.within
    return (
        f"UPDATE {growth.table.name} SET {sums}, {last} = max(coalesce({last}, 0), :{last})"
        f" WHERE id = :id AND (:{within} IS NULL OR {within} = :{within})"
    )


@cache
def _inserting(table: sa.Table) -> str:
    names = columns(table)
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({values})"


@cache
def _counting(tally: RowTally) -> str:
    key = ", ".join(tally.key)
    return f"{_inserting(tally.table)} ON CONFLICT ({key}) DO UPDATE SET n = n + excluded.n"


def _with_text(table: sa.Table, given: Sequence[Row]) -> list[Row]:
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

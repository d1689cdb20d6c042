"""What a transaction gathered and writes together at its end, kind by kind; and how SQLite writes
it: one statement for each kind. Its text is made once, so nothing of it is compiled again.
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
    """A row that was there a moment ago is gone, or stands elsewhere: look again."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """Numbers of rows that are there: `sums` are added up, `latest` only rises. Where a value for
    `within` is given, the row must have the same."""

    table: sa.Table
    sums: tuple[str, ...]
    latest: str
    within: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ("id", self.within, *self.sums, self.latest)

    def merged(self, given: Iterable[Row]) -> list[Row]:
        """One for each row that grows: an UPDATE passes over a second one for the same row."""
        found: dict[str, Row] = {}
        for one in given:
            known = found.get(one["id"])
            found[one["id"]] = one if known is None else self._added(known, one)
        return [found[one] for one in sorted(found)]

    def _added(self, one: Row, other: Row) -> Row:
        places = {one[self.within], other[self.within]} - {None}
        if len(places) > 1:
            raise CountChange(f"{one['id']} stands in one place")
        sums = {name: one[name] + other[name] for name in self.sums}
        last = max(one[self.latest], other[self.latest])
        place = next(iter(places), None)
        return {**one, **sums, self.latest: last, self.within: place}


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """`n` of a row grows by what is given; one that is not there yet begins with it."""

    table: sa.Table
    key: tuple[str, ...]

    def merged(self, given: Iterable[tuple[tuple[str, ...], int]]) -> list[Row]:
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
    told: list[Row] = field(default_factory=list)  # events

    def __bool__(self) -> bool:
        return bool(self.rows or self.grown or self.tallies or self.told)


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


@cache
def columns(table: sa.Table) -> tuple[str, ...]:
    """Those a row gives: all, but for a number the database counts up."""
    return tuple(column.name for column in table.columns if column.autoincrement is not True)


def write_to_sqlite(connection: Connection, batch: WriteBatch, *, last: bool = False) -> None:
    del last  # within the transaction in any case
    for growth, grown in batch.grown.items():
        if connection.exec_driver_sql(_growing(growth), grown).rowcount != len(grown):
            raise CountChange(growth.table.name)
    for table, given in batch.rows.items():
        connection.exec_driver_sql(_inserting(table), _with_text(table, given))
    for tally, counted in batch.tallies.items():
        connection.exec_driver_sql(_counting(tally), counted)
    if batch.told:
        connection.exec_driver_sql(_inserting(events), _with_text(events, batch.told))


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
    """JSON is text here."""
    names = _json_columns(table)
    return [
        {
            **row,
            **{name: None if row[name] is None else encoded(row[name]).decode() for name in names},
        }
        for row in given
    ]


@cache
def _json_columns(table: sa.Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns if isinstance(column.type, Json))

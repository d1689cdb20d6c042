"""What a transaction gathered and writes together at its end, kind by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import msgspec
import sqlalchemy as sa

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

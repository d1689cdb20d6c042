"""Rows as plain values, and a page of a list: rows, and how many there are in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

MOST_COUNTED = 10_000
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
    found = connection.execute(query, given).mappings().first()
    return None if found is None else dict(found)


def rows(
    connection: Connection, query: sa.Select[Any], given: Mapping[str, Any] | None = None
) -> list[Row]:
    """`given`: what a query that is made once is asked for. Making one costs more than running it,
    and rows that are fetched together cost half of those that come one by one."""
    found = connection.execute(query, given)
    names = tuple(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found.all()]


def paged(
    connection: Connection,
    query: sa.Select[Any],
    limit: int,
    offset: int,
    *,
    total: int | None = None,
) -> Page:
    """`total` where it is known already: counting a large table costs more than reading a page.
    Else it is counted, with a filter as far as `MOST_COUNTED`: a total of that many means at
    least so many."""
    if total is None:
        total = _counted(connection, query)
    return Page(rows(connection, query.limit(limit).offset(offset)), total, limit, offset)


def _counted(connection: Connection, query: sa.Select[Any]) -> int:
    # A query without a filter would lose its table together with its columns.
    some = query.order_by(None).with_only_columns(sa.literal(1), maintain_column_froms=True)
    if query.whereclause is not None:
        some = some.limit(MOST_COUNTED)
    return connection.scalar(sa.select(sa.func.count()).select_from(some.subquery())) or 0

"""A batch on SQLite: one statement for each kind. There is no way to the database to be saved, but
its text is made once, and nothing of it is compiled again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.batch import (
    CountChange,
    Growth,
    Row,
    RowTally,
    WriteBatch,
    columns,
    encoded,
)
from holdfast.hub.store.tables import events


def write(connection: Connection, batch: WriteBatch, *, last: bool = False) -> None:
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
    return tuple(column.name for column in table.columns if isinstance(column.type, sa.JSON))

"""Putting a backup in place, in one transaction: all of it, or the database is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from holdfast.hub.store import backup, schema
from holdfast.hub.store.driver_errors import named
from holdfast.hub.store.engine import WRITES, is_sqlite, patient
from holdfast.hub.store.errors import NoBackup, NotEmpty, TooNew
from holdfast.hub.store.tables import metadata

AT_ONCE = 500
# What is found again on PostgreSQL (migration 0003) is an index: no backup holds it.
_INDEXED = ("recall_items", "recall_vectors", "recall_sources", "recall_projects")
_NO_INDEX = (
    *(f"DROP TABLE IF EXISTS {name}" for name in _INDEXED),
    "DROP TEXT SEARCH CONFIGURATION IF EXISTS holdfast",
    "DROP TEXT SEARCH DICTIONARY IF EXISTS holdfast_stem",
)


def restore(engine: Engine, path: Path, *, replace: bool = False) -> dict[str, int]:
    """Rows by table. A backup of an older version is brought up afterwards."""
    lines = backup.lines_of(path)
    head = backup.head_of(lines)
    if head.version not in schema.KNOWN:
        raise TooNew(f"the backup is of version {head.version}; this is {schema.HEAD}")
    try:
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            return _restored(connection, head.version, lines, replace)
    except DBAPIError as slip:
        ours = named(slip)
        raise (NoBackup(f"it does not fit: {slip.orig}") if ours is slip else ours) from slip


def _restored(
    connection: Connection, version: str, lines: Iterator[Any], replace: bool
) -> dict[str, int]:
    patient(connection)
    schema.refuse_newer(schema.version(connection))
    if not replace and (table := _table_with_rows(connection)):
        raise NotEmpty(f"there are rows in this database already ({table})")
    clear(connection)
    schema.bring_up(connection, version)
    rows = _fill(connection, lines)
    _number_on(connection)
    schema.bring_up(connection)
    return rows


def _table_with_rows(connection: Connection) -> str:
    for table in backup.ours(connection):
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
            return table.name
    return ""


def clear(connection: Connection) -> None:
    """Only what is ours: a team's database may hold other things."""
    there = sa.MetaData()
    names = {*metadata.tables, "alembic_version"}
    there.reflect(connection, only=lambda name, _: name in names)
    there.drop_all(connection)
    if not is_sqlite(connection):
        for statement in _NO_INDEX:
            connection.exec_driver_sql(statement)


def _fill(connection: Connection, lines: Iterator[Any]) -> dict[str, int]:
    tables = {table.name: table for table in backup.ours(connection)}
    _keep_nothing_as_null(tables)
    filled: dict[str, int] = {}
    for name, rows in groupby(backup.rows_of(lines), key=itemgetter(0)):
        if name not in tables:
            raise NoBackup(f"there is no table {name} in this version")
        filled[name] = 0
        while some := [dict(zip(columns, row, strict=True)) for _, columns, row in _some(rows)]:
            connection.execute(sa.insert(tables[name]), some)
            filled[name] += len(some)
        counted = sa.select(sa.func.count()).select_from(tables[name])
        if connection.execute(counted).scalar_one() != filled[name]:
            raise NoBackup(f"not every row of {name} arrived")
    return filled


def _some(rows: Iterator[tuple[str, list[str], list[Any]]]) -> Iterator[Any]:
    return islice(rows, AT_ONCE)


def _keep_nothing_as_null(tables: dict[str, sa.Table]) -> None:
    for table in tables.values():
        for column in table.columns:
            if isinstance(column.type, sa.JSON):
                column.type.none_as_null = True


def _number_on(connection: Connection) -> None:
    """PostgreSQL goes on numbering where the rows end; SQLite does so by itself."""
    if not is_sqlite(connection):
        newest = "(SELECT max(id) FROM events)"
        sequence = "pg_get_serial_sequence('events', 'id')"
        connection.exec_driver_sql(
            f"SELECT setval({sequence}, coalesce({newest}, 1), {newest} IS NOT NULL)"
        )

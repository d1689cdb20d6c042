"""A damaged SQLite file: set aside, never deleted, and read as far as it still can be."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.store.engine import open_engine, parsed
from holdfast.store.errors import Corrupt
from holdfast.store.page import Row
from holdfast.store.slips import in_words

COMPANIONS = ("-wal", "-shm", "")  # the log first: a new database must not replay it


def file_of(address: str) -> Path | None:
    """The file behind an address, where there is one."""
    url = parsed(address)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def is_damaged(address: str) -> bool:
    path = file_of(address)
    if path is None or not path.exists():
        return False
    engine = open_engine(address)
    try:
        with in_words(), engine.connect() as connection:
            return bool(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok")
    except Corrupt:
        return True
    finally:
        engine.dispose()


def set_aside(path: Path) -> Path:
    """Under a name that says what and when."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target, n = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while target.exists():
        target, n = path.with_name(f"{path.name}.damaged-{stamp}-{n}"), n + 1
    for companion in COMPANIONS:
        part = Path(f"{path}{companion}")
        if part.exists():
            part.replace(f"{target}{companion}")
    return target


def rows_left(path: Path, table: sa.Table) -> Iterator[Row]:
    """What can still be read of a table, from its beginning up to the damage and back from its end;
    a row that is not what its table holds is left out."""
    seen: set[int] = set()
    for order in ("ASC", "DESC"):
        for number, row in _read(path, table, order):
            if number in seen:
                return
            seen.add(number)
            if (whole := _fitted(table, row)) is not None:
                yield whole


def _read(path: Path, table: sa.Table, order: str) -> Iterator[tuple[int, dict[str, Any]]]:
    names = [column.name for column in table.columns]
    listed = ", ".join(f'"{name}"' for name in names)
    query = f'SELECT rowid, {listed} FROM "{table.name}" ORDER BY rowid {order}'
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for number, *values in connection.execute(query):
            yield number, dict(zip(names, values, strict=True))
    except (sqlite3.Error, OverflowError):
        return
    finally:
        connection.close()


def _fitted(table: sa.Table, row: dict[str, Any]) -> Row | None:
    for column in table.columns:
        value = row[column.name]
        if value is None:
            if not column.nullable:
                return None
        elif isinstance(column.type, sa.JSON):
            try:
                row[column.name] = json.loads(value)
            except (TypeError, ValueError, RecursionError):
                return None
        elif not isinstance(value, int if isinstance(column.type, sa.Integer) else str):
            return None
    return row

"""A damaged SQLite file, read as far as it still can be."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.store.page import Row


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

"""A damaged SQLite file, read as far as it still can be: page by page, as SQLite itself stops at
the first one it cannot read. A page does not name its table; what its rows look like does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from holdfast.hub import derived_ids
from holdfast.hub.store.rows import Row
from holdfast.hub.store.sqlite_pages import RawFile, RawRow, opened

# Where the kinds of the columns alone would fit another table too.
_LOOKS: dict[str, Callable[[Row], bool]] = {
    "projects": lambda row: row["id"] == derived_ids.project_id(row["path"]),
}


class RowsLeft:
    """The whole rows of each table."""

    def __init__(self, file: RawFile, tables: Sequence[sa.Table]) -> None:
        self._file = file
        self._pages: dict[str, list[int]] = {}
        for number in file.leaves():
            found = _table_of(file.rows(number).values(), tables)
            if found is not None:
                self._pages.setdefault(found.name, []).append(number)

    def of(self, table: sa.Table) -> Iterator[Row]:
        for number in self._pages.get(table.name, ()):
            for values in self._file.rows(number).values():
                if (row := _fitted(table, values)) is not None:
                    yield row


@contextmanager
def rows_left(path: Path, tables: Sequence[sa.Table]) -> Iterator[RowsLeft]:
    with opened(path) as file:
        yield RowsLeft(file, tables)


def _table_of(rows: Iterable[RawRow], tables: Sequence[sa.Table]) -> sa.Table | None:
    """The one most of the rows fit; of two, the first."""
    fits: Counter[sa.Table] = Counter()
    for values in rows:
        fits.update(table for table in tables if _fitted(table, values) is not None)
    return max(tables, key=lambda table: fits[table]) if fits else None


def _fitted(table: sa.Table, values: RawRow) -> Row | None:
    """The row, or nothing where it is not what the table holds."""
    if len(values) != len(table.columns):
        return None
    row: Row = {}
    for column, value in zip(table.columns, values, strict=True):
        row[column.name] = value
        if value is None:
            if not column.nullable:
                return None
        elif isinstance(column.type, sa.JSON):
            try:
                row[column.name] = json.loads(value)  # type: ignore[arg-type]
            except (TypeError, ValueError, RecursionError):
                return None
        elif not isinstance(value, int if isinstance(column.type, sa.Integer) else str):
            return None
    looks = _LOOKS.get(table.name)
    return row if looks is None or looks(row) else None

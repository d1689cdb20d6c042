"""Rows of one table: fetched together, changed in memory, written back together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Row

AT_ONCE = 500


class RowCache:
    """`get` and `put` by id; `flush` writes what is new or changed, in two statements."""

    def __init__(self, connection: Connection, table: sa.Table, ids: Iterable[str]) -> None:
        self._connection, self._table = connection, table
        self._before: dict[str, Row] = {}
        self.rows: dict[str, Row] = {}
        self.fetch(ids)

    def fetch(self, ids: Iterable[str]) -> None:
        """Fetch rows and lock them until the end of the transaction."""
        wanted = sorted({row_id for row_id in ids if row_id} - self.rows.keys())
        for some in _chunks(wanted):
            query = (
                sa.select(self._table)
                .where(self._table.c.id.in_(some))
                .with_for_update(key_share=True)
            )
            for found in self._connection.execute(query).mappings():
                row = dict(found)
                self._before[row["id"]] = dict(row)
                self.rows[row["id"]] = row

    def get(self, row_id: str) -> Row | None:
        return self.rows.get(row_id)

    def put(self, row: Row) -> Row:
        self.rows[row["id"]] = row
        return row

    def drop(self, row_id: str) -> None:
        self.rows.pop(row_id, None)
        self._before.pop(row_id, None)

    def before(self, row_id: str) -> Row | None:
        return self._before.get(row_id)

    @property
    def added(self) -> list[Row]:
        return [row for row_id, row in self.rows.items() if row_id not in self._before]

    @property
    def changed(self) -> list[Row]:
        known = self._before
        return [row for row_id, row in self.rows.items() if row != known.get(row_id, row)]

    def flush(self) -> tuple[list[Row], list[Row]]:
        """Write added and changed rows and return both."""
        added, changed = self.added, self.changed
        if added:
            names = [column.name for column in self._table.columns]
            whole = [{name: row.get(name) for name in names} for row in added]
            self._connection.execute(sa.insert(self._table), whole)
        if changed:
            self._connection.execute(self._update(), [_bound(row) for row in changed])
        self._before |= {row["id"]: dict(row) for row in (*added, *changed)}
        return added, changed

    def _update(self) -> sa.Update:
        columns = [column.name for column in self._table.columns if column.name != "id"]
        values: dict[str, Any] = {name: sa.bindparam(f"b_{name}") for name in columns}
        by_id = self._table.c.id == sa.bindparam("b_id")
        return sa.update(self._table).where(by_id).values(values)


def _bound(row: Row) -> Row:
    return {f"b_{name}": value for name, value in row.items()}


def _chunks(wanted: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(wanted), AT_ONCE):
        yield wanted[start : start + AT_ONCE]

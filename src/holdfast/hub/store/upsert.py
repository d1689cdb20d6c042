"""Insert or change, in one statement, on both engines.

Statements of the busiest paths are made once: making one costs several times what running it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection
from sqlalchemy.sql.dml import Insert


def upsert(
    connection: Connection,
    table: sa.Table,
    key: Sequence[str],
    row: Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    *,
    only: sa.ColumnElement[bool] | None = None,
) -> Insert:
    """`changes`: what to set where the row is there already; None: everything, {}: nothing.
    `only`: leave a row that does not fit this as it is."""
    statement = _insert(connection.dialect.name, table).values(dict(row))
    if changes is None:
        changes = {name: statement.excluded[name] for name in row if name not in key}
    if not changes:
        done: Insert = statement.on_conflict_do_nothing(index_elements=list(key))
        return done
    done = statement.on_conflict_do_update(index_elements=list(key), set_=dict(changes), where=only)
    return done


def put_new(connection: Connection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert it where it is not there yet, and say whether that was so. By whatever it is unique:
    of two that come at once, one may be stopped by another index than the first."""
    statement = _unless_there(connection.dialect.name, table)
    return connection.execute(statement, dict(row)).rowcount > 0


@cache
def _unless_there(dialect: str, table: sa.Table) -> Insert:
    done: Insert = _insert(dialect, table).on_conflict_do_nothing()
    return done


def _insert(dialect: str, table: sa.Table) -> Any:
    insert: Any = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(table)

"""Insert or change, in one statement, on both engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = insert(table).values(dict(row))
    if changes is None:
        changes = {name: statement.excluded[name] for name in row if name not in key}
    if not changes:
        done: Insert = statement.on_conflict_do_nothing(index_elements=list(key))
        return done
    done = statement.on_conflict_do_update(index_elements=list(key), set_=dict(changes), where=only)
    return done

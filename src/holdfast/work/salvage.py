"""Rows of a damaged file that nothing else tells, put into the new one; and totals, counted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

from holdfast.store.page import Row
from holdfast.store.store import Store
from holdfast.store.tables import actions, metadata, sessions
from holdfast.work import damaged
from holdfast.work.session_totals import SUMS

NOT_SAVED = frozenset(("positions", "counts", "events"))
AT_ONCE = 500


def save(store: Store, old: Path) -> dict[str, int]:
    """Rows of the damaged file that are not there again: parents first, none without its parent."""
    saved: dict[str, int] = {}
    for table in metadata.sorted_tables:
        if table.name in NOT_SAVED:
            continue
        rows = damaged.rows_left(old, table)
        n = 0
        while some := list(islice(rows, AT_ONCE)):
            n += store.write(partial(_put, table=table, rows=some))
        if n:
            saved[table.name] = n
    for session_id in store.read(lambda c: list(c.execute(sa.select(sessions.c.id)).scalars())):
        store.write(partial(_count_again, session_id=session_id))
    return saved


def _put(connection: Connection, table: sa.Table, rows: list[Row]) -> int:
    before = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
    whole = list(_with_parents(connection, table, rows))
    if whole:
        statement: Any = sqlite.insert(table).on_conflict_do_nothing()
        connection.execute(statement, whole)
    return (connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0) - before


def _with_parents(connection: Connection, table: sa.Table, rows: list[Row]) -> Iterator[Row]:
    known: dict[str, set[Any]] = {}
    for key in table.foreign_keys:
        name, parent = key.parent.name, key.column
        wanted = {row[name] for row in rows if row[name] is not None}
        found = connection.execute(sa.select(parent).where(parent.in_(wanted))).scalars()
        known[name] = set(found)
    for row in rows:
        if all(row[name] is None or row[name] in there for name, there in known.items()):
            yield row


def _count_again(connection: Connection, session_id: str) -> None:
    mine = sa.update(sessions).where(sessions.c.id == session_id)
    connection.execute(mine.values(sums(connection, session_id)))


def sums(connection: Connection, session_id: str) -> dict[str, int]:
    """A session's totals, counted."""
    worked = sa.case((actions.c.exit_code == 0, 1), else_=0)
    took = actions.c.duration_ms
    found = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(worked), 0),
            sa.func.coalesce(sa.func.sum(took), 0),
            sa.func.count(took),
        ).where(actions.c.session_id == session_id)
    ).one()
    calls, succeeded, took_ms, timed = map(int, found)
    return dict(zip(SUMS, (calls, succeeded, calls - succeeded, took_ms, timed), strict=True))

"""Compactions of every window: when, at which step, how full before and after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, fetch_page, matching, rows, upsert
from holdfast.hub.store.tables import audit, compactions
from holdfast.window.audit import FREED

KEY = ("session_id", "agent_id", "number")


def add(connection: Connection, row: Row) -> None:
    """Add a compaction; unknown fields of a known one stay as they were."""
    known = {name: value for name, value in row.items() if value is not None and name not in KEY}
    connection.execute(upsert(connection, compactions, KEY, row, known))


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    since_ms: int | None = None,
) -> Page:
    """List compactions, newest first."""
    table = compactions.c
    wanted = matching(compactions, project_id=project_id, session_id=session_id)
    query = sa.select(compactions).where(*wanted)
    if since_ms is not None:
        query = query.where(table.at_ms >= since_ms)
    order = (table.at_ms.desc(), table.session_id, table.agent_id, table.number.desc())
    return fetch_page(connection, query.order_by(*order), limit, offset)


def of_window(connection: Connection, session_id: str, agent_id: str) -> list[Row]:
    """List the compactions of one window, oldest first."""
    mine = matching(compactions, session_id=session_id, agent_id=agent_id)
    query = sa.select(compactions).where(*mine).order_by(compactions.c.number)
    return rows(connection, query)


def summary_checks(connection: Connection, found: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the hooks' check of each compaction's summary; empty if no hook checked it."""
    found = list(found)
    sessions = sorted({row["session_id"] for row in found})
    query = sa.select(audit).where(audit.c.kind == FREED, audit.c.session_id.in_(sessions))
    noted: dict[tuple[str, str], list[Row]] = {}
    for row in rows(connection, query.order_by(audit.c.at_ms)):
        noted.setdefault((row["session_id"], row["agent_id"] or ""), []).append(row)
    return [_check_of(row, noted.get((row["session_id"], row["agent_id"]), [])) for row in found]


def _check_of(row: Row, events: list[Row]) -> dict[str, Any]:
    found = (event["body"] for event in events if event["body"].get("number") == row["number"])
    return dict(next(found, {}))

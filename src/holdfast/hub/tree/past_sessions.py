"""Sessions as a history lists them: the last used first, by time, duration and compactions."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, fetch_page, matching, rows
from holdfast.hub.store.tables import projects, sessions
from holdfast.hub.tree.capacity import session_titles

LAST_MS = sa.func.coalesce(sessions.c.seen_ms, sessions.c.started_ms)


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    since_ms: int | None = None,
    until_ms: int | None = None,
    least_ms: int = 0,
    least_compactions: int = 0,
    session_ids: Sequence[str] | None = None,
) -> tuple[Page, dict[str, Row]]:
    """Return the sessions, and for each its `project` by name and its `title`."""
    query = sa.select(sessions).where(*matching(sessions, project_id=project_id))
    if since_ms is not None:
        query = query.where(since_ms <= LAST_MS)
    if until_ms is not None:
        query = query.where(sessions.c.started_ms <= until_ms)
    if least_ms:
        query = query.where(LAST_MS - sessions.c.started_ms >= least_ms)
    if least_compactions:
        query = query.where(sessions.c.compact_count >= least_compactions)
    if session_ids is not None:
        query = query.where(sessions.c.id.in_(session_ids))
    page = fetch_page(connection, query.order_by(LAST_MS.desc(), sessions.c.id), limit, offset)
    places = {row["project_id"] for row in page.rows} - {None}
    named = sa.select(projects.c.id, projects.c.name, projects.c.path)
    names = {
        row["id"]: row["name"] or row["path"]
        for row in rows(connection, named.where(projects.c.id.in_(places)))
    }
    titles = session_titles(connection, {row["id"] for row in page.rows})
    about = {
        row["id"]: {"project": names.get(row["project_id"]), "title": titles.get(row["id"])}
        for row in page.rows
    }
    return page, about

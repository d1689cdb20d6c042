"""Audit events of every machine that tells this store: appended, never changed."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.store.page import Page, paged
from holdfast.store.tables import audit


def listed(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    session_id: str | None = None,
    kind: str | None = None,
) -> Page:
    """Newest first."""
    query = sa.select(audit).order_by(audit.c.at_ms.desc(), audit.c.id)
    if session_id is not None:
        query = query.where(audit.c.session_id == session_id)
    if kind is not None:
        query = query.where(audit.c.kind == kind)
    return paged(connection, query, limit, offset)

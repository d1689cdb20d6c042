"""How far a message has come: of one, and counted over all."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import deliveries, messages

STATES = ("waiting", "said", "confirmed", "expired")


def state_of(row: Row, now_ms: int) -> str:
    """Of a listed message: how far the agent that has come furthest is."""
    if row["read_by"]:
        return "confirmed"
    if row["said_to"]:
        return "said"
    return "expired" if row["expires_ms"] <= now_ms else "waiting"


def states(connection: Connection, now_ms: int, project_id: str | None = None) -> dict[str, int]:
    """How many messages are in each state; those cleaned up are no longer counted."""
    reached = (
        sa.select(sa.func.max(sa.case((deliveries.c.state == "read", 2), else_=1)))
        .where(deliveries.c.message_id == messages.c.id)
        .scalar_subquery()
    )
    gone = sa.case((messages.c.expires_ms <= now_ms, 3), else_=0)
    stage = sa.func.coalesce(reached, gone).label("stage")
    query = sa.select(stage, sa.func.count()).group_by(stage)
    if project_id is not None:
        query = query.where(messages.c.project_id == project_id)
    counted = {int(found): int(n) for found, n in connection.execute(query)}
    return {name: counted.get(n, 0) for n, name in enumerate(STATES)}

"""Subscriptions: which broadcasts an agent wants. `callback_url` is kept and never called:
nothing is sent over the network."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import NotThere
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Page, Row, first, paged, rows, upsert
from holdfast.hub.store.tables import subscriptions


def put(
    connection: Connection, agent_id: str, topic: str, callback_url: str | None, now_ms: int
) -> Row:
    """One per agent and topic; a second one changes what is given."""
    row = {
        "id": ids.new(),
        "agent_id": agent_id,
        "topic": topic,
        "callback_url": callback_url,
        "created_ms": now_ms,
        "updated_ms": now_ms,
    }
    changes: dict[str, Any] = {"updated_ms": now_ms}
    if callback_url is not None:
        changes["callback_url"] = callback_url
    put_in = upsert(connection, subscriptions, ["agent_id", "topic"], row, changes)
    kept = dict(connection.execute(put_in.returning(subscriptions)).mappings().one())
    _tell(connection, "subscription.added", kept)
    return kept


def listed(
    connection: Connection, limit: int, offset: int, agent_id: str | None, topic: str | None
) -> Page:
    query = _SORTED
    if agent_id is not None:
        query = query.where(subscriptions.c.agent_id == agent_id)
    if topic is not None:
        query = query.where(subscriptions.c.topic == topic)
    return paged(connection, query, limit, offset)


def of(connection: Connection, agent_id: str) -> list[Row]:
    """All of one agent; there are no more than topics."""
    return rows(connection, _SORTED.where(subscriptions.c.agent_id == agent_id))


def remove(connection: Connection, agent_id: str, topic: str) -> Row:
    pair = (subscriptions.c.agent_id == agent_id) & (subscriptions.c.topic == topic)
    return _remove(connection, pair)


def remove_by_id(connection: Connection, subscription_id: str) -> Row:
    return _remove(connection, subscriptions.c.id == subscription_id)


def _remove(connection: Connection, which: sa.ColumnElement[bool]) -> Row:
    found = first(connection, sa.select(subscriptions).where(which))
    if found is None:
        raise NotThere("Subscription")
    connection.execute(sa.delete(subscriptions).where(which))
    _tell(connection, "subscription.removed", found)
    return found


def _tell(connection: Connection, kind: str, row: Row) -> None:
    pending_writes.announce(connection, kind, {"agent_id": row["agent_id"], "topic": row["topic"]})


_SORTED = sa.select(subscriptions).order_by(
    subscriptions.c.created_ms, subscriptions.c.agent_id, subscriptions.c.topic
)

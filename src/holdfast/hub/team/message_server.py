"""A machine asks what its agents are to be told, and tells what they were: the server's side.

As on the board itself, a message is an agent's once a hook there has printed it, and is read once
its transcript shows it. So an answer that is lost costs nothing: the same is given again, and the
machine knows what it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import clean_text
from holdfast.hub.board import deliveries
from holdfast.hub.board.local_agents import NOT_TO_AGENTS
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import deliveries as table


@dataclass(frozen=True, slots=True)
class ServerExchange:
    """What one window of that machine tells and asks."""

    agent_id: str
    project_id: str | None
    listens: bool  # else it has ended, and only tells
    hears_all: bool  # also what is for everybody; a subagent hears that by its parent's ear
    waiting: Sequence[str]  # ids of messages it was given and has not said
    said: Sequence[str]
    confirmed: Sequence[str]


@dataclass(frozen=True, slots=True)
class DeliveredMessage:
    rows: Sequence[Row]
    had: Sequence[str]  # of those that wait there: somebody has read them for this agent


def note(connection: Connection, turns: Sequence[ServerExchange], now_ms: int) -> None:
    """Told twice changes nothing."""
    for one in turns:
        clean_text.check_names(agent_id=one.agent_id)
        deliveries.claim(connection, one.said, one.agent_id, now_ms)
        deliveries.confirm(connection, one.confirmed, one.agent_id, now_ms)


def given(
    connection: Connection, turns: Sequence[ServerExchange], now_ms: int
) -> list[DeliveredMessage]:
    return [_given(connection, one, now_ms) for one in turns]


def _given(connection: Connection, one: ServerExchange, now_ms: int) -> DeliveredMessage:
    if not one.listens:
        return DeliveredMessage([], [])
    pending = deliveries.pending(
        connection,
        one.agent_id,
        one.project_id,
        now_ms,
        broadcasts=one.hears_all,
        but_topics=() if one.hears_all else NOT_TO_AGENTS,
    )
    known = set(one.waiting)
    return DeliveredMessage(
        [row for row in pending if row["id"] not in known], _had(connection, one)
    )


def _had(connection: Connection, one: ServerExchange) -> list[str]:
    if not one.waiting:
        return []
    mine = sa.select(table.c.message_id).where(
        table.c.agent_id == one.agent_id, table.c.message_id.in_(one.waiting)
    )
    return list(connection.scalars(mine))

"""Messages on the team's server, the server side: a machine asks for messages to its agents and
reports which ones were printed and confirmed.

As on the board itself, a message is claimed once a hook has printed it, and read once the agent's
transcript shows it. A lost answer costs nothing: the same messages are given again, and the machine
knows which it has.
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
    """What one window of that machine reports and asks for."""

    agent_id: str
    project_id: str | None
    listens: bool  # else it has ended and only reports
    hears_all: bool  # also broadcasts; a subagent gets those through its parent
    waiting: Sequence[str]  # ids of messages it was given and has not printed
    said: Sequence[str]
    confirmed: Sequence[str]


@dataclass(frozen=True, slots=True)
class DeliveredMessage:
    rows: Sequence[Row]
    had: Sequence[str]  # waiting messages that were already read for this agent


def note(connection: Connection, turns: Sequence[ServerExchange], now_ms: int) -> None:
    """Record what was said and confirmed; repeating it changes nothing."""
    for turn in turns:
        clean_text.check_names(agent_id=turn.agent_id)
        deliveries.claim(connection, turn.said, turn.agent_id, now_ms)
        deliveries.confirm(connection, turn.confirmed, turn.agent_id, now_ms)


def find_messages(
    connection: Connection, turns: Sequence[ServerExchange], now_ms: int
) -> list[DeliveredMessage]:
    return [_find_messages(connection, turn, now_ms) for turn in turns]


def _find_messages(connection: Connection, turn: ServerExchange, now_ms: int) -> DeliveredMessage:
    if not turn.listens:
        return DeliveredMessage([], [])
    pending = deliveries.pending(
        connection,
        turn.agent_id,
        turn.project_id,
        now_ms,
        broadcasts=turn.hears_all,
        but_topics=() if turn.hears_all else NOT_TO_AGENTS,
    )
    known = set(turn.waiting)
    return DeliveredMessage(
        [row for row in pending if row["id"] not in known], _find_read(connection, turn)
    )


def _find_read(connection: Connection, turn: ServerExchange) -> list[str]:
    if not turn.waiting:
        return []
    mine = sa.select(table.c.message_id).where(
        table.c.agent_id == turn.agent_id, table.c.message_id.in_(turn.waiting)
    )
    return list(connection.scalars(mine))

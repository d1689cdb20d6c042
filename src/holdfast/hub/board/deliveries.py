"""Which messages are for an agent, and who was given which: nobody gets one twice.

For an agent are those to it by name, always. Of those to everybody: not its own, those of its
projects or of none, and, where it has subscribed to something, only those of its topics. An agent
nobody has placed on a project hears every project: a client that does not say where it works must
not miss its own.

There is one row per message and agent. `read`: it reached the agent. `claimed`: a hook printed it,
and the transcript has not yet shown that the model saw it. Whoever inserts the row has the message:
of two that ask at once, one does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import clean_text
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, insert_into, rows
from holdfast.hub.store.tables import (
    agent_contexts,
    deliveries,
    messages,
    requests,
    sessions,
    subscriptions,
    subtasks,
    tasks,
    windows,
)

Condition = sa.ColumnElement[bool]
Name: TypeAlias = str | sa.BindParameter[str]  # or the place of one, in a query that is made once
Time: TypeAlias = int | sa.BindParameter[int]


def hears(agent_id: Name, project_id: Name | None, now_ms: Time) -> Condition:
    """As a condition on messages; without `project_id`, on the projects the agent is known on."""
    place = messages.c.project_id
    here = _is_in_known_project(agent_id) if project_id is None else place == project_id
    to_all = sa.and_(
        messages.c.to_agent.is_(None),
        messages.c.from_agent != agent_id,
        place.is_(None) | here,
        _is_subscribed(agent_id),
    )
    return (messages.c.expires_ms > now_ms) & ((messages.c.to_agent == agent_id) | to_all)


def is_for(agent_id: str) -> Condition:
    """Whether it may be given to this agent at all."""
    return messages.c.to_agent.is_(None) | (messages.c.to_agent == agent_id)


def _is_subscribed(agent_id: Name) -> Condition:
    mine = sa.select(subscriptions.c.topic).where(subscriptions.c.agent_id == agent_id)
    return ~mine.exists() | messages.c.topic.in_(mine)


def _is_in_known_project(agent_id: Name) -> Condition:
    branch = subtasks.join(tasks, tasks.c.id == subtasks.c.task_id).join(
        requests, requests.c.id == tasks.c.request_id
    )
    known = sa.union(
        sa.select(sessions.c.project_id).where(sessions.c.id == agent_id),
        sa.select(windows.c.project_id).where(windows.c.agent_id == agent_id),
        sa.select(agent_contexts.c.project_id).where(agent_contexts.c.agent_id == agent_id),
        sa.select(requests.c.project_id).select_from(branch).where(subtasks.c.agent_id == agent_id),
    ).subquery("known")
    placed = sa.select(known.c.project_id).where(known.c.project_id.is_not(None))
    return messages.c.project_id.in_(placed) | ~placed.exists()


CLAIMED, READ = "claimed", "read"
MOST_PENDING = 50  # as many as an outbox holds


@dataclass(frozen=True, slots=True)
class Ask:
    """An agent looks into its inbox."""

    agent_id: str
    now_ms: int
    limit: int = 100
    project_id: str | None = None  # none: the projects it is known to work on
    since_ms: int | None = None
    topic: str | None = None
    broadcasts: bool = True

    @property
    def is_narrow(self) -> bool:
        return self.since_ms is not None or self.topic is not None or not self.broadcasts


@dataclass(frozen=True, slots=True)
class DeliveryInbox:
    rows: Sequence[Row]  # with `already_read`
    unread_remaining: int  # of all that is for this agent, whatever was asked for

    @property
    def unread_ids(self) -> list[str]:
        return [row["id"] for row in self.rows if not row["already_read"]]


def look(connection: Connection, ask: Ask) -> DeliveryInbox:
    """What is there, unread first where the limit cuts; nothing is marked."""
    given = deliveries.alias("given")
    mine = (given.c.message_id == messages.c.id) & (given.c.agent_id == ask.agent_id)
    was_read = sa.case((given.c.message_id.is_(None), 0), else_=1)
    query = (
        sa.select(messages, was_read.label("already_read"))
        .select_from(messages.outerjoin(given, mine))
        .where(hears(ask.agent_id, ask.project_id, ask.now_ms), *_filters(ask))
        .order_by(was_read, *_ORDER)
        .limit(ask.limit)
    )
    found = [{**row, "already_read": bool(row["already_read"])} for row in rows(connection, query)]
    found.sort(key=lambda row: (-row["priority"], row["created_ms"], row["id"]))
    inbox = DeliveryInbox(found, 0)
    settled = not ask.is_narrow and not inbox.unread_ids
    return inbox if settled else replace(inbox, unread_remaining=_unread(connection, ask))


def mark(connection: Connection, ask: Ask, inbox: DeliveryInbox) -> DeliveryInbox:
    """Mark what was looked at as read; what another one got first is not unread to us."""
    clean_text.check_names(agent_id=ask.agent_id)
    mine = set(_hand_over(connection, inbox.unread_ids, ask.agent_id, READ, ask.now_ms))
    if mine:
        _announce(connection, "message.read", ask.agent_id, sorted(mine))
    found = [{**row, "already_read": row["id"] not in mine} for row in inbox.rows]
    return DeliveryInbox(found, max(0, inbox.unread_remaining - len(inbox.unread_ids)))


def pending(
    connection: Connection,
    agent_id: str,
    project_id: str | None,
    now_ms: int,
    limit: int = MOST_PENDING,
    *,
    broadcasts: bool = True,
    only_here: bool = False,
    but_topics: Collection[str] = (),
) -> list[Row]:
    """What a hook has to say to this agent: neither claimed nor read yet, oldest first. What it is
    not to hear must not take up the room: without `broadcasts` what names nobody, with `only_here`
    what is of another project though it names it, and `but_topics`."""
    is_recipient = hears(agent_id, project_id, now_ms)
    query = sa.select(messages).where(is_recipient, is_undelivered(agent_id))
    if not broadcasts:
        query = query.where(messages.c.to_agent.is_not(None))
    if only_here:
        place = messages.c.project_id
        query = query.where(place.is_(None) | (place == project_id))
    if but_topics:
        query = query.where(messages.c.topic.not_in(but_topics))
    return rows(connection, query.order_by(messages.c.created_ms, messages.c.id).limit(limit))


def sent_to(connection: Connection, name: str, message_ids: Sequence[str]) -> set[str]:
    """Those of the messages that were sent to this very name."""
    mine = sa.select(messages.c.id).where(
        messages.c.id.in_(message_ids), messages.c.to_agent == name
    )
    return set(connection.scalars(mine))


def claim(
    connection: Connection, message_ids: Sequence[str], agent_id: str, now_ms: int
) -> list[str]:
    """Those of the messages that are now this caller's to say; the others are somebody else's."""
    mine = _hand_over(connection, message_ids, agent_id, CLAIMED, now_ms)
    if mine:
        _announce(connection, "message.claimed", agent_id, mine)
    return mine


def confirm(
    connection: Connection, message_ids: Sequence[str], agent_id: str, now_ms: int
) -> list[str]:
    """They were seen to reach the agent: read from now on, claimed before or not."""
    done = _hand_over(connection, message_ids, agent_id, READ, now_ms, confirms=True)
    if done:
        _announce(connection, "message.read", agent_id, done)
    return done


def _hand_over(
    connection: Connection,
    message_ids: Sequence[str],
    agent_id: str,
    state: str,
    now_ms: int,
    *,
    confirms: bool = False,
) -> list[str]:
    """One statement. In the order of ids, so that two of them never wait for each other."""
    if not message_ids:
        return []
    given = sa.select(
        messages.c.id, *(sa.literal(v) for v in (agent_id, state)), sa.literal(now_ms)
    ).where(messages.c.id.in_(message_ids), is_for(agent_id))
    if not confirms:
        given = given.where(messages.c.expires_ms > now_ms)
    made = insert_into(connection.dialect.name, deliveries).from_select(
        ["message_id", "agent_id", "state", "at_ms"], given.order_by(messages.c.id)
    )
    key = ["message_id", "agent_id"]
    if confirms:
        made = made.on_conflict_do_update(
            index_elements=key,
            set_={"state": made.excluded.state, "at_ms": made.excluded.at_ms},
            where=deliveries.c.state == CLAIMED,
        )
    else:
        made = made.on_conflict_do_nothing(index_elements=key)
    got = set(connection.scalars(made.returning(deliveries.c.message_id)))
    return [one for one in message_ids if one in got]


def _filters(ask: Ask) -> list[sa.ColumnElement[bool]]:
    narrower: list[sa.ColumnElement[bool]] = []
    if ask.since_ms is not None:
        narrower.append(messages.c.created_ms > ask.since_ms)
    if ask.topic is not None:
        narrower.append(messages.c.topic == ask.topic)
    if not ask.broadcasts:
        narrower.append(messages.c.to_agent.is_not(None))
    return narrower


def _unread(connection: Connection, ask: Ask) -> int:
    is_recipient = hears(ask.agent_id, ask.project_id, ask.now_ms)
    counted = sa.select(sa.func.count()).select_from(messages)
    return connection.scalar(counted.where(is_recipient, is_undelivered(ask.agent_id))) or 0


def is_undelivered(agent_id: Name) -> sa.ColumnElement[bool]:
    """Neither claimed nor read by this agent yet; as a condition on messages."""
    given = (deliveries.c.message_id == messages.c.id) & (deliveries.c.agent_id == agent_id)
    return ~sa.exists().where(given)


def _announce(connection: Connection, kind: str, agent_id: str, message_ids: Sequence[str]) -> None:
    body = {"agent_id": agent_id, "message_ids": list(message_ids)}
    pending_writes.announce(connection, kind, body)


_ORDER = (messages.c.priority.desc(), messages.c.created_ms, messages.c.id)

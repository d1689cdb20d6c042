"""Messages between agents, which of them an agent gets, and which it got already. A message goes to
one agent, or to everybody (`to_agent` none), and expires. Topics are a closed list, so that a typo
is refused; users add their own. No agent gets a message twice.

An agent always gets messages sent to its name. Of messages to everybody it gets those that it did
not send itself, that belong to one of its projects or to none, and, if it has subscribed to topics,
that have one of them. An agent that is not known on any project gets the messages of all projects:
a client that does not say where it works must not miss its own.

There is one row per message and agent. `claimed` means that a hook printed the message and the
transcript has not yet shown that the model saw it. `read` means that it reached the agent. The
process that inserts the row delivers the message; if two try at once, only one succeeds.

The `callback_url` of a subscription is saved and never called: nothing is sent over the network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import sqlalchemy as sa

from holdfast.hub import clean_text, ids
from holdfast.hub.board.local_agents import NOT_TO_AGENTS
from holdfast.hub.errors import Refused
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
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
from holdfast.hub.tree.sessions import get_project
from holdfast.settings import load as settings

BUILT_IN_TOPICS: Final = (
    *("task.created", "task.completed", "task.failed", "context.request", "context.response"),
    *("alert.blocking", "agent.heartbeat", "agent.started", "agent.completed"),
    *("workflow.progress", "checkpoint_trigger"),
)


def known_topics(project: str = "") -> frozenset[str]:
    """Return the built-in topics and those of the setting `topics`."""
    names = (name.strip() for name in settings.load(project).word("topics").split(","))
    return frozenset(BUILT_IN_TOPICS) | {name for name in names if name}


def check_topic(topic: str, project: str = "") -> None:
    if topic not in known_topics(project):
        hint = "workflow.progress suits a plain message"
        raise Refused(unknown_topic(topic), "topic", hint)


def unknown_topic(topic: str) -> str:
    listed = ", ".join(BUILT_IN_TOPICS)
    return f"{topic[:80]!r} is no topic: {listed}, or one registered in the setting topics"


USUAL_TTL_SECONDS = 3_600
MOST_TTL_SECONDS = 86_400
MOST_PRIORITY = 10


def draft(
    from_agent: str,
    topic: str,
    content: dict[str, Any] | str,
    now_ms: int,
    *,
    to_agent: str | None = None,
    priority: int = 0,
    ttl_seconds: int = USUAL_TTL_SECONDS,
    project_id: str | None = None,
) -> Row:
    """Make the row to post. Plain text is stored as `{"message": …}`."""
    return {
        "id": ids.in_order(now_ms),
        "project_id": project_id,
        "from_agent": from_agent,
        "to_agent": to_agent,
        "topic": topic,
        "content": {"message": content} if isinstance(content, str) else content,
        "priority": priority,
        "created_ms": now_ms,
        "expires_ms": now_ms + ttl_seconds * 1000,
    }


def post(connection: sa.Connection, row: Row) -> None:
    """Post a message. Its project, if it has one, must exist."""
    clean_text.check_names(**{name: row[name] for name in ("from_agent", "to_agent", "topic")})
    if row["project_id"] is not None:
        get_project(connection, row["project_id"])
    connection.execute(sa.insert(messages), row)
    shown = ("id", "topic", "from_agent", "to_agent", "priority")
    db.tell(connection, "message.posted", row, *shown, at_ms=row["created_ms"])


def post_once(connection: sa.Connection, row: Row) -> bool:
    """Post a message whose id is made from its content; return False if it was posted before."""
    there = sa.select(messages.c.id).where(messages.c.id == row["id"])
    if connection.scalar(there) is not None:
        return False
    post(connection, row)
    return True


def list_page(connection: sa.Connection, limit: int, offset: int, *which: str | None) -> Page:
    """List messages, newest first, with the agents that have read each, and those it was printed
    for without a sign that it arrived. Expired ones are listed until cleanup removes them."""
    page = db.page(connection, limit, offset, table=messages, where=_listed(*which))
    table, message_ids = deliveries.c, [row["id"] for row in page.rows]
    given = sa.select(table.message_id, table.state, table.agent_id)
    given = given.where(table.message_id.in_(message_ids)).order_by(table.at_ms, table.agent_id)
    had: dict[tuple[str, str], list[str]] = {}
    for message_id, state, agent_id in connection.execute(given):
        had.setdefault((message_id, state), []).append(agent_id)
    for row in page.rows:
        row["read_by"] = had.get((row["id"], "read"), [])
        row["said_to"] = had.get((row["id"], "claimed"), [])
    return page


def _listed(
    project_id: str | None = None, without_topic: str | None = None
) -> list[sa.ColumnElement[bool]]:
    mine = db.matching(messages, project_id=project_id)
    return mine if without_topic is None else [*mine, messages.c.topic != without_topic]


STATES = ("waiting", "said", "confirmed", "expired")


def state_of(row: Row, now_ms: int) -> str:
    """Return the state of a listed message: that of the agent that is furthest."""
    if row["read_by"]:
        return "confirmed"
    if row["said_to"]:
        return "said"
    return "expired" if row["expires_ms"] <= now_ms else "waiting"


def states(connection: sa.Connection, now_ms: int, *which: str | None) -> dict[str, int]:
    """Count the messages in each state; removed ones are not counted."""
    reached = sa.select(sa.func.max(sa.case((deliveries.c.state == "read", 2), else_=1)))
    reached = reached.where(deliveries.c.message_id == messages.c.id)
    gone = sa.case((messages.c.expires_ms <= now_ms, 3), else_=0)
    stage = sa.func.coalesce(reached.scalar_subquery(), gone).label("stage")
    query = sa.select(stage, sa.func.count()).group_by(stage).where(*_listed(*which))
    counted = {int(found): int(n) for found, n in connection.execute(query)}
    return {name: counted.get(n, 0) for n, name in enumerate(STATES)}


PAIR = ("agent_id", "topic")


def subscribe(connection: sa.Connection, given: Row, now_ms: int) -> Row:
    """Subscribe an agent to a topic. Subscribing again changes the given fields."""
    changes = {**given, "updated_ms": now_ms}
    row = {"id": ids.new(), "callback_url": None, "created_ms": now_ms, **changes}
    kept = db.put_and_get(connection, subscriptions, PAIR, row, changes)
    return db.tell(connection, "subscription.added", kept, *PAIR)


def unsubscribe(connection: sa.Connection, **which: str) -> Row:
    """End a subscription, by its id or by its agent and topic."""
    gone = db.remove(connection, subscriptions, **which)
    return db.tell(connection, "subscription.removed", gone, *PAIR)


_OLDEST = (subscriptions.c.created_ms, subscriptions.c.agent_id, subscriptions.c.topic)
list_subscriptions = partial(db.page, table=subscriptions, order=_OLDEST)


Condition = sa.ColumnElement[bool]
Name: TypeAlias = str | sa.BindParameter[str]  # or a parameter, in a query that is built once
Time: TypeAlias = int | sa.BindParameter[int]


def hears(agent_id: Name, project_id: Name | None, now_ms: Time) -> Condition:
    """Build the condition on messages that this agent gets; by default of all its projects."""
    place = messages.c.project_id
    here = _is_in_known_project(agent_id) if project_id is None else place == project_id
    to_all = sa.and_(
        messages.c.to_agent.is_(None),
        messages.c.from_agent != agent_id,
        place.is_(None) | here,
        _is_subscribed(agent_id),
    )
    return (messages.c.expires_ms > now_ms) & ((messages.c.to_agent == agent_id) | to_all)


def _is_subscribed(agent_id: Name) -> Condition:
    mine = sa.select(subscriptions.c.topic).where(subscriptions.c.agent_id == agent_id)
    return ~mine.exists() | messages.c.topic.in_(mine)


def _is_in_known_project(agent_id: Name) -> Condition:
    branch = subtasks.join(tasks).join(requests)
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
    """A request of an agent for its inbox."""

    agent_id: str
    now_ms: int
    limit: int = 100
    project_id: str | None = None  # none: the projects it is known to work on
    since_ms: int | None = None
    topic: str | None = None
    broadcasts: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryInbox:
    rows: Sequence[Row]  # with `already_read`
    unread_remaining: int  # of all messages for this agent, without the filters

    @property
    def unread_ids(self) -> list[str]:
        return [row["id"] for row in self.rows if not row["already_read"]]


def look(connection: sa.Connection, ask: Ask) -> DeliveryInbox:
    """Return the messages without marking any; unread ones are first where the limit cuts."""
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
    found = [{**row, "already_read": row["already_read"] > 0} for row in db.rows(connection, query)]
    found.sort(key=lambda row: (-row["priority"], row["created_ms"], row["id"]))
    return DeliveryInbox(found, _unread(connection, ask))


def mark(connection: sa.Connection, ask: Ask, inbox: DeliveryInbox) -> DeliveryInbox:
    """Mark messages as read. One that another process delivered first counts as read too."""
    clean_text.check_names(agent_id=ask.agent_id)
    mine = set(_hand_over(connection, inbox.unread_ids, ask.agent_id, ask.now_ms, state=READ))
    found = [{**row, "already_read": row["id"] not in mine} for row in inbox.rows]
    return DeliveryInbox(found, max(0, inbox.unread_remaining - len(inbox.unread_ids)))


def pending(
    connection: sa.Connection,
    agent_id: str,
    project_id: str | None,
    now_ms: int,
    *,
    is_subagent: bool = False,
) -> list[Row]:
    """Return the messages a hook has to print for this agent: neither claimed nor read, oldest
    first. A subagent gets what is for everybody through its parent, and nothing of its window."""
    is_recipient = hears(agent_id, project_id, now_ms)
    query = sa.select(messages).where(is_recipient, is_undelivered(agent_id))
    if is_subagent:
        is_direct = messages.c.to_agent.is_not(None)
        query = query.where(is_direct, messages.c.topic.not_in(NOT_TO_AGENTS))
    return db.rows(connection, query.order_by(*_ORDER[1:]).limit(MOST_PENDING))


def exchange(
    connection: sa.Connection, window: Mapping[str, Any], now_ms: int
) -> tuple[list[Row], list[str]]:
    """For one window of another machine, note what was said and confirmed there, and return the
    messages that it has not got, and which of those it has were read elsewhere.

    As on the board itself, a message is claimed once a hook has printed it, and read once the
    agent's transcript shows it. A lost answer costs nothing: the same messages are given again, and
    the machine knows which it has.
    """
    agent_id, path, waiting = window["agent"], window["project_path"], window["waiting"]
    claim(connection, window["said"], agent_id, now_ms)
    confirm(connection, window["confirmed"], agent_id, now_ms)
    if not window["listens"]:
        return [], []
    whose = agent_id, ids.project_id(path) if path else None, now_ms
    found = pending(connection, *whose, is_subagent=not window["hears_all"])
    given = sa.select(deliveries.c.message_id).where(*db.matching(deliveries, agent_id=agent_id))
    had = list(connection.scalars(given.where(deliveries.c.message_id.in_(waiting))))
    return [row for row in found if row["id"] not in waiting], had


def _hand_over(
    connection: sa.Connection,
    message_ids: Sequence[str],
    agent_id: str,
    now_ms: int,
    *,
    state: str,
    confirms: bool = False,
) -> list[str]:
    """Write and announce the rows, and return the ids of those that were written. One statement, in
    the order of ids, so that two of them never wait for each other."""
    if not message_ids:
        return []
    to_me = messages.c.to_agent.is_(None) | (messages.c.to_agent == agent_id)
    given = sa.select(messages.c.id, *map(sa.literal, (agent_id, state, now_ms)))
    given = given.where(messages.c.id.in_(message_ids), to_me).order_by(messages.c.id)
    if not confirms:
        given = given.where(messages.c.expires_ms > now_ms)
    made = db.insert_into(connection.dialect.name, deliveries).from_select(
        ["message_id", "agent_id", "state", "at_ms"], given
    )
    key = ["message_id", "agent_id"]
    if confirms:
        made = made.on_conflict_do_update(
            index_elements=key,
            set_={name: made.excluded[name] for name in ("state", "at_ms")},
            where=deliveries.c.state == CLAIMED,
        )
    else:
        made = made.on_conflict_do_nothing(index_elements=key)
    got = set(connection.scalars(made.returning(deliveries.c.message_id)))
    written = [id_ for id_ in message_ids if id_ in got]
    if written:
        kind = "message.read" if state == READ else "message.claimed"
        db.announce(connection, kind, {"agent_id": agent_id, "message_ids": written})
    return written


# Claim messages: the caller may print those that are returned; others have claimed the rest.
claim = partial(_hand_over, state=CLAIMED)
# Mark messages as read after they were seen to reach the agent, whether claimed before or not.
confirm = partial(_hand_over, state=READ, confirms=True)


def _filters(ask: Ask) -> list[Condition]:
    narrower = db.matching(messages, topic=ask.topic)
    if ask.since_ms is not None:
        narrower.append(messages.c.created_ms > ask.since_ms)
    return narrower if ask.broadcasts else [*narrower, messages.c.to_agent.is_not(None)]


def _unread(connection: sa.Connection, ask: Ask) -> int:
    is_recipient = hears(ask.agent_id, ask.project_id, ask.now_ms)
    counted = sa.select(sa.func.count()).select_from(messages)
    return connection.scalar(counted.where(is_recipient, is_undelivered(ask.agent_id))) or 0


def is_undelivered(agent_id: Name) -> Condition:
    """Build the condition on messages that this agent has neither claimed nor read yet."""
    given = (deliveries.c.message_id == messages.c.id) & (deliveries.c.agent_id == agent_id)
    return ~sa.exists().where(given)


_ORDER = (messages.c.priority.desc(), messages.c.created_ms, messages.c.id)

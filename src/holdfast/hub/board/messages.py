"""Messages between agents, and which broadcasts an agent wants. A message goes to one agent, or to
everybody (`to_agent` none), and expires. Topics are a closed list, so that a typo is refused;
users add their own.

The `callback_url` of a subscription is saved and never called: nothing is sent over the network.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import clean_text, ids
from holdfast.hub.errors import Refused
from holdfast.hub.store import events
from holdfast.hub.store.rows import (
    Page,
    Row,
    fetch_page,
    find_page,
    matching,
    newest_first,
    remove,
    upsert,
)
from holdfast.hub.store.tables import deliveries, messages, subscriptions
from holdfast.hub.tree import projects
from holdfast.settings import load as settings

BUILT_IN_TOPICS: Final = (
    "task.created",
    "task.completed",
    "task.failed",
    "context.request",
    "context.response",
    "alert.blocking",
    "agent.heartbeat",
    "agent.started",
    "agent.completed",
    "workflow.progress",
    "checkpoint_trigger",
)


def known_topics(project: str = "") -> frozenset[str]:
    """Return the built-in topics and those of the setting `topics`."""
    names = (name.strip() for name in settings.load(project).word("topics").split(","))
    return frozenset(BUILT_IN_TOPICS) | {name for name in names if name}


def check_topic(topic: str, project: str = "") -> None:
    if topic not in known_topics(project):
        refused = Refused(unknown_topic(topic), "topic")
        refused.hint = "workflow.progress suits a plain message"
        raise refused


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


def post(connection: Connection, row: Row) -> None:
    """Post a message. Its project, if it has one, must exist."""
    clean_text.check_names(
        from_agent=row["from_agent"], to_agent=row["to_agent"], topic=row["topic"]
    )
    if row["project_id"] is not None:
        projects.get(connection, row["project_id"])
    connection.execute(sa.insert(messages), row)
    shown = ("id", "topic", "from_agent", "to_agent", "priority")
    events.tell(connection, "message.posted", row, *shown, at_ms=row["created_ms"])


def post_once(connection: Connection, row: Row) -> bool:
    """Post a message whose id is made from its content; return False if it was posted before."""
    there = sa.select(messages.c.id).where(messages.c.id == row["id"])
    if connection.scalar(there) is not None:
        return False
    post(connection, row)
    return True


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    project_id: str | None = None,
    without_topic: str | None = None,
) -> Page:
    """List messages, newest first, with the agents that have read each. Expired ones are listed
    until cleanup removes them."""
    wanted = _listed(project_id, without_topic)
    query = sa.select(messages).where(*wanted).order_by(*newest_first(messages))
    page = fetch_page(connection, query, limit, offset)
    had = _had(connection, [row["id"] for row in page.rows])
    for row in page.rows:
        row["read_by"] = had.get((row["id"], "read"), [])
        row["said_to"] = had.get((row["id"], "claimed"), [])
    return page


def _listed(project_id: str | None, without_topic: str | None) -> list[sa.ColumnElement[bool]]:
    mine = matching(messages, project_id=project_id)
    return mine if without_topic is None else [*mine, messages.c.topic != without_topic]


def _had(connection: Connection, message_ids: list[str]) -> dict[tuple[str, str], list[str]]:
    """Return, by message and state, the agents that read it and those it was printed for without
    a sign that it arrived."""
    table = deliveries.c
    given = sa.select(table.message_id, table.state, table.agent_id)
    given = given.where(table.message_id.in_(message_ids)).order_by(table.at_ms, table.agent_id)
    found: dict[tuple[str, str], list[str]] = {}
    for message_id, state, agent_id in connection.execute(given):
        found.setdefault((message_id, state), []).append(agent_id)
    return found


STATES = ("waiting", "said", "confirmed", "expired")


def state_of(row: Row, now_ms: int) -> str:
    """Return the state of a listed message: that of the agent that is furthest."""
    if row["read_by"]:
        return "confirmed"
    if row["said_to"]:
        return "said"
    return "expired" if row["expires_ms"] <= now_ms else "waiting"


def states(
    connection: Connection,
    now_ms: int,
    project_id: str | None = None,
    without_topic: str | None = None,
) -> dict[str, int]:
    """Count the messages in each state; removed ones are not counted."""
    reached = (
        sa.select(sa.func.max(sa.case((deliveries.c.state == "read", 2), else_=1)))
        .where(deliveries.c.message_id == messages.c.id)
        .scalar_subquery()
    )
    gone = sa.case((messages.c.expires_ms <= now_ms, 3), else_=0)
    stage = sa.func.coalesce(reached, gone).label("stage")
    query = sa.select(stage, sa.func.count()).group_by(stage)
    query = query.where(*_listed(project_id, without_topic))
    counted = {int(found): int(n) for found, n in connection.execute(query)}
    return {name: counted.get(n, 0) for n, name in enumerate(STATES)}


def subscribe(connection: Connection, given: Row, now_ms: int) -> Row:
    """Subscribe an agent to a topic. Subscribing again changes the given fields."""
    times = {"created_ms": now_ms, "updated_ms": now_ms}
    row = {"id": ids.new(), "callback_url": None, **given, **times}
    changes = {**given, "updated_ms": now_ms}
    put_in = upsert(connection, subscriptions, ["agent_id", "topic"], row, changes)
    kept = dict(connection.execute(put_in.returning(subscriptions)).mappings().one())
    events.tell(connection, "subscription.added", kept, "agent_id", "topic")
    return kept


def unsubscribe(connection: Connection, **which: str) -> Row:
    """End a subscription, by its id or by its agent and topic."""
    gone = remove(connection, subscriptions, **which)
    events.tell(connection, "subscription.removed", gone, "agent_id", "topic")
    return gone


_OLDEST = (subscriptions.c.created_ms, subscriptions.c.agent_id, subscriptions.c.topic)
list_subscriptions = partial(find_page, table=subscriptions, order=_OLDEST)

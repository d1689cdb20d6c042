"""Messages between agents, and which broadcasts an agent wants. A message goes to one agent, or to
everybody (`to_agent` none), and expires. Topics are a closed list, so that a typo is refused;
users add their own.

The `callback_url` of a subscription is saved and never called: nothing is sent over the network.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import sqlalchemy as sa

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
    put_and_get,
    remove,
)
from holdfast.hub.store.tables import deliveries, messages, subscriptions
from holdfast.hub.tree import projects
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


def post(connection: sa.Connection, row: Row) -> None:
    """Post a message. Its project, if it has one, must exist."""
    clean_text.check_names(**{name: row[name] for name in ("from_agent", "to_agent", "topic")})
    if row["project_id"] is not None:
        projects.get(connection, row["project_id"])
    connection.execute(sa.insert(messages), row)
    shown = ("id", "topic", "from_agent", "to_agent", "priority")
    events.tell(connection, "message.posted", row, *shown, at_ms=row["created_ms"])


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
    query = sa.select(messages).where(*_listed(*which)).order_by(*newest_first(messages))
    page = fetch_page(connection, query, limit, offset)
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
    mine = matching(messages, project_id=project_id)
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
    kept = put_and_get(connection, subscriptions, PAIR, row, changes)
    events.tell(connection, "subscription.added", kept, *PAIR)
    return kept


def unsubscribe(connection: sa.Connection, **which: str) -> Row:
    """End a subscription, by its id or by its agent and topic."""
    gone = remove(connection, subscriptions, **which)
    events.tell(connection, "subscription.removed", gone, *PAIR)
    return gone


_OLDEST = (subscriptions.c.created_ms, subscriptions.c.agent_id, subscriptions.c.topic)
list_subscriptions = partial(find_page, table=subscriptions, order=_OLDEST)

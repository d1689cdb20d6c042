"""`/api/subscribe`, `/api/subscriptions`, `/api/unsubscribe`: the broadcasts an agent wants."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from holdfast.api.database import Db
from holdfast.api.fields import (
    AgentName,
    AgentPath,
    Body,
    IdPath,
    Offset,
    Text,
    Topic,
    Topics,
    require_topic,
)
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, Router, RowAnswer, paging, respond
from holdfast.hub import row_times
from holdfast.hub.board import messages
from holdfast.hub.store.rows import Row

router = Router(prefix="/api", tags=["subscriptions"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class SubscriptionFilter(Body):
    agent_id: AgentName
    topic: Topic


class NewSubscription(SubscriptionFilter):
    callback_url: Text | None = Field(None, description="kept, and never called: nothing is sent")


class Subscription(RowAnswer):
    id: str
    agent_id: str
    topic: str
    callback_url: str | None
    created_at: str
    updated_at: str


class SubscriptionMade(ApiAnswer):
    success: bool
    subscription: Subscription


class SubscriptionList(Paged):
    subscriptions: list[Subscription]


class AgentSubscriptions(ApiAnswer):
    agent_id: str
    subscriptions: list[Subscription]
    topics: list[str]
    count: int


class SubscriptionPair(ApiAnswer):
    id: str
    agent_id: str
    topic: str


class SubscriptionsDeleted(ApiAnswer):
    success: bool
    deleted: SubscriptionPair


@router.post("/subscribe", status_code=201, response_model=SubscriptionMade)
async def subscribe(body: NewSubscription, db: Db, known: Topics) -> Response:
    """After its first subscription, an agent gets only broadcasts of its topics."""
    require_topic(known, body.topic)
    now = row_times.now_ms()
    row = await db.write(
        lambda c: messages.subscribe(c, body.agent_id, body.topic, body.callback_url, now)
    )
    return respond({"success": True, "subscription": Subscription.of(row)}, 201)


@router.get("/subscriptions", response_model=SubscriptionList)
async def listed(
    db: Db,
    known: Topics,
    agent_id: Annotated[AgentName | None, Query()] = None,
    topic: Annotated[Topic | None, Query()] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Oldest first."""
    if topic is not None:
        require_topic(known, topic, "query")
    page = await db.read(lambda c: messages.list_subscriptions(c, limit, offset, agent_id, topic))
    return respond({"subscriptions": [Subscription.of(row) for row in page.rows], **paging(page)})


@router.get("/subscriptions/{agent_id:text}", response_model=AgentSubscriptions)
async def of_agent(agent_id: AgentPath, db: Db) -> Response:
    found = await db.read(lambda c: messages.subscriptions_of(c, agent_id))
    return respond(
        {
            "agent_id": agent_id,
            "subscriptions": [Subscription.of(row) for row in found],
            "topics": [row["topic"] for row in found],
            "count": len(found),
        }
    )


@router.post("/unsubscribe", response_model=SubscriptionsDeleted, responses=NOT_FOUND)
async def unsubscribe(body: SubscriptionFilter, db: Db) -> Response:
    return _deleted_answer(
        await db.write(lambda c: messages.unsubscribe(c, body.agent_id, body.topic))
    )


@router.delete(
    "/subscriptions/{subscription_id}", response_model=SubscriptionsDeleted, responses=NOT_FOUND
)
async def remove(subscription_id: IdPath, db: Db) -> Response:
    which = str(subscription_id)
    return _deleted_answer(await db.write(lambda c: messages.remove_subscription(c, which)))


def _deleted_answer(row: Row) -> Response:
    pair = {name: row[name] for name in ("id", "agent_id", "topic")}
    return respond({"success": True, "deleted": pair})

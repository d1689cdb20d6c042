"""What agents say to each other and share: `/api/messages`, `/api/subscriptions`, `/api/blocking`
(who waits for whom), `/api/claims` (one agent owns a piece of work for a while).
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import AfterValidator, AliasChoices, BaseModel, Field
from sqlalchemy.engine import Connection

from holdfast.api import fields
from holdfast.api.database import Db
from holdfast.api.resource import Noun, add_list
from holdfast.api.responses import (
    NOT_FOUND,
    ErrorAnswer,
    Paged,
    Router,
    answer,
    paging,
    respond,
    row_answer,
)
from holdfast.hub import ids, row_times
from holdfast.hub.board import blocking, claims, deliveries, messages, outboxes
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.team import message_server
from holdfast.redact import redact

router = Router(tags=["board"])


class NewMessage(fields.Body):
    from_agent: fields.AgentName = Field(
        validation_alias=AliasChoices("from_agent", "from_agent_id"),
        description="also accepted as `from_agent_id`",
    )
    to_agent: fields.AgentName | None = Field(
        None,
        validation_alias=AliasChoices("to_agent", "to_agent_id"),
        description="nobody: every agent of the project; also accepted as `to_agent_id`",
    )
    topic: fields.Topic
    content: fields.Object | fields.Text = Field(
        validation_alias=AliasChoices("content", "payload"),
        description="words are kept as `{message}`; also accepted as `payload`",
    )
    priority: int = Field(0, ge=0, le=messages.MOST_PRIORITY)
    ttl_seconds: int = Field(messages.USUAL_TTL_SECONDS, ge=1, le=messages.MOST_TTL_SECONDS)
    project_id: fields.Id | None = None


Posted = row_answer(
    "Message",
    tables.messages,
    "id from_agent to_agent topic priority created_at expires_at",
    is_broadcast=bool,
)
InboxMessage = answer("BoardMessage", Posted, content=dict[str, Any], already_read=bool)
Inbox = answer("AgentInbox", agent_id=str, messages=[InboxMessage], count=int, unread_remaining=int)
RawMessage = row_answer(
    "RawMessage",
    tables.messages,
    "id project_id topic priority created_at expires_at",
    from_agent_id=str,
    to_agent_id=str | None,
    message_type=str,
    payload=dict[str, Any],
    read_by=list[str],
    said_to=list[str],
    state=str,
)
MessageList = answer("MessageList", Paged, messages=[RawMessage], states=dict[str, int])
MessageMade = answer("MessageMade", success=bool, message=Posted)


@router.post("/api/messages", status_code=201, response_model=MessageMade, responses=NOT_FOUND)
async def post_message(body: NewMessage, request: Request) -> Response:
    """Post a message to one agent, or, if `to_agent` is absent or null, to every agent of the
    project."""
    state = request.app.state  # not as three dependencies, which take a third of a post's time
    fields.require_topic(state.topics, body.topic)
    row = messages.draft(now_ms=row_times.now_ms(), **body.given)
    await state.database.write(lambda c: messages.post(c, row))
    await state.handing.hand(row)
    return respond({"success": True, "message": _with_broadcast(Posted, row)}, 201)


def _with_broadcast(model: Any, row: Row) -> dict[str, Any]:
    shown: dict[str, Any] = model.of(row, is_broadcast=row["to_agent"] is None)
    return shown


@router.get("/api/messages", response_model=MessageList)
@router.get("/api/messages/all", response_model=MessageList)
async def list_messages(
    db: Db,
    project_id: fields.IdQuery = None,
    without_topic: fields.WordQuery = None,
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Response:
    """Newest first. Nothing is marked as read. Expired messages are listed, and counted in
    `total`, until they are cleaned up. `without_topic` leaves out the messages of one topic."""
    now, where = row_times.now_ms(), (project_id, without_topic)
    page = await db.read(lambda c: messages.list_page(c, limit, offset, *where))
    states = await db.read(lambda c: messages.states(c, now, *where))
    listing = [RawMessage.of(row, state=messages.state_of(row, now)) for row in page.rows]
    return respond({"messages": listing, "states": states, **paging(page)})


@router.get("/api/messages/{agent_id:text}", response_model=Inbox)
async def inbox(
    agent_id: fields.AgentPath,
    db: Db,
    known: fields.Topics,
    since: Annotated[fields.TimeMs | None, Query()] = None,
    topic: Annotated[fields.Topic | None, Query()] = None,
    include_broadcasts: bool = True,
    project_id: fields.IdQuery = None,
    limit: fields.LargeLimit = 100,
) -> Response:
    """The messages for this agent; reading marks them as read. Highest priority first, then
    oldest. Messages beyond the limit stay unread. `unread_remaining` counts all unread messages
    for the agent."""
    fields.require_topic(known, topic, "query")
    now = row_times.now_ms()
    ask = deliveries.Ask(agent_id, now, limit, project_id, since, topic, include_broadcasts)
    found = await db.read(lambda c: deliveries.look(c, ask))
    if found.unread_ids:
        looked = await asyncio.to_thread(outboxes.withdraw_read, found, ask)
        found = await db.write(lambda c: deliveries.mark(c, ask, looked))
    return respond(
        {
            "agent_id": agent_id,
            "messages": [_with_broadcast(InboxMessage, row) for row in found.rows],
            "count": len(found.rows),
            "unread_remaining": found.unread_remaining,
        }
    )


MOST_AGENTS = 200
MOST_IDS = 500
Ids = Annotated[list[fields.Id], Field(max_length=MOST_IDS)]


class ExchangeWindow(BaseModel):
    """One agent of the other machine."""

    agent: fields.AgentName
    project_path: fields.FilePath | None = Field(None, description="where it works")
    listens: bool = Field(True, description="it can get messages; otherwise it only reports")
    hears_all: bool = Field(True, description="also what is for everybody")
    waiting: Ids = Field([], description="messages it was given and has not said yet")
    said: Ids = Field([], description="messages a hook there has printed")
    confirmed: Ids = Field([], description="messages its transcript shows")

    def turn(self) -> message_server.ServerExchange:
        place = ids.project_id(self.project_path) if self.project_path else None
        reported = (self.waiting, self.said, self.confirmed)
        return message_server.ServerExchange(
            self.agent, place, self.listens, self.hears_all, *reported
        )


class ExchangeRequest(BaseModel):
    agents: Annotated[list[ExchangeWindow], Field(max_length=MOST_AGENTS)]


ExchangedMessage = row_answer(
    "ExchangedMessage",
    tables.messages,
    "id from_agent to_agent topic content",
    age_ms=int,
    left_ms=int,
)
Receipt = answer("DeliveryReceipt", agent=str, messages=[ExchangedMessage], had=list[str])


@router.post("/api/messages/exchange", response_model=answer("ExchangeAnswer", agents=[Receipt]))
async def exchange(body: ExchangeRequest, db: Db) -> Response:
    """For each agent, in the order of the request: messages it has not got yet, oldest first, at
    most 50; and which of its waiting messages were read on another machine (`had`). Fetching marks
    nothing: report `said` and `confirmed` messages, as often as you like."""
    now = row_times.now_ms()
    turns = [window.turn() for window in body.agents]
    reported = [turn for turn in turns if turn.said or turn.confirmed]
    if reported:
        await db.write(lambda c: message_server.note(c, reported, now))
    found = await db.read(lambda c: message_server.find_messages(c, turns, now))
    receipts = [
        {
            "agent": turn.agent_id,
            "messages": [_aged(row, now) for row in given.rows],
            "had": given.had,
        }
        for turn, given in zip(turns, found, strict=True)
    ]
    return respond({"agents": receipts})


def _aged(row: Row, now_ms: int) -> dict[str, Any]:
    age_ms, left_ms = now_ms - row["created_ms"], row["expires_ms"] - now_ms
    shown: dict[str, Any] = ExchangedMessage.of({**row, "age_ms": age_ms, "left_ms": left_ms})
    return shown


class SubscriptionFilter(fields.Body):
    agent_id: fields.AgentName
    topic: fields.Topic


class NewSubscription(SubscriptionFilter):
    callback_url: fields.Text | None = Field(
        None, description="kept, and never called: nothing is sent"
    )


Subscription = row_answer("Subscription", tables.subscriptions)
SubscriptionMade = answer("SubscriptionMade", success=bool, subscription=Subscription)
SubscriptionList = answer("SubscriptionList", Paged, subscriptions=[Subscription])
AgentTopics = answer(
    "AgentSubscriptions",
    agent_id=str,
    subscriptions=[Subscription],
    topics=list[str],
    count=int,
)
Pair = row_answer("SubscriptionPair", tables.subscriptions, "id agent_id topic")
SubscriptionGone = answer("SubscriptionsDeleted", success=bool, deleted=Pair)


@router.post("/api/subscribe", status_code=201, response_model=SubscriptionMade)
async def subscribe(body: NewSubscription, db: Db, known: fields.Topics) -> Response:
    """After its first subscription, an agent gets only broadcasts of its topics."""
    fields.require_topic(known, body.topic)
    now, given = row_times.now_ms(), (body.agent_id, body.topic, body.callback_url)
    row = await db.write(lambda c: messages.subscribe(c, *given, now))
    return respond({"success": True, "subscription": Subscription.of(row)}, 201)


@router.get("/api/subscriptions", response_model=SubscriptionList)
async def list_subscriptions(
    db: Db,
    known: fields.Topics,
    agent_id: Annotated[fields.AgentName | None, Query()] = None,
    topic: Annotated[fields.Topic | None, Query()] = None,
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Response:
    """Oldest first."""
    fields.require_topic(known, topic, "query")
    page = await db.read(lambda c: messages.list_subscriptions(c, limit, offset, agent_id, topic))
    return respond({"subscriptions": Subscription.of_each(page.rows), **paging(page)})


@router.get("/api/subscriptions/{agent_id:text}", response_model=AgentTopics)
async def subscriptions_of(agent_id: fields.AgentPath, db: Db) -> Response:
    """All topics of one agent."""
    rows = await db.read(lambda c: messages.subscriptions_of(c, agent_id))
    topics = [row["topic"] for row in rows]
    shown = {"subscriptions": Subscription.of_each(rows), "topics": topics, "count": len(rows)}
    return respond({"agent_id": agent_id, **shown})


@router.post("/api/unsubscribe", response_model=SubscriptionGone, responses=NOT_FOUND)
async def unsubscribe(body: SubscriptionFilter, db: Db) -> Response:
    """End the subscription of an agent to a topic."""
    row = await db.write(lambda c: messages.unsubscribe(c, body.agent_id, body.topic))
    return respond({"success": True, "deleted": Pair.of(row)})


@router.delete(
    "/api/subscriptions/{subscription_id}", response_model=SubscriptionGone, responses=NOT_FOUND
)
async def remove_subscription(subscription_id: fields.IdPath, db: Db) -> Response:
    """End a subscription by its id."""
    row = await db.write(lambda c: messages.remove_subscription(c, str(subscription_id)))
    return respond({"success": True, "deleted": Pair.of(row)})


class BlockingPair(fields.Body):
    blocked_by: fields.AgentName
    blocked_agent: fields.AgentName


class NewBlocking(BlockingPair):
    reason: fields.Text | None = None


Waits = row_answer("Blocking", tables.blockings)
RemovedWait = row_answer("BlockingRemoved", tables.blockings, "id blocked_by blocked_agent reason")
WaitSince = answer("BlockingSince", RemovedWait, since=str)
WaitsFor = row_answer("BlockedBy", tables.blockings, "id reason", by_agent=str, since=str)
HoldsUp = row_answer("BlockedAgent", tables.blockings, "id blocked_agent reason", since=str)
BlockingStatus = answer(
    "BlockingStatus",
    agent_id=str,
    is_blocked=bool,
    blocked_by=[WaitsFor],
    is_blocking=bool,
    blocking=[HoldsUp],
    summary=answer("BlockingCounts", blocked_by_count=int, blocking_count=int),
)


def _add_blocking(connection: Connection, given: Row, now_ms: int) -> Row:
    pair = given["blocked_by"], given["blocked_agent"]
    return blocking.add(connection, *pair, given.get("reason"), now_ms)


Noun(router, "/api/blocking", "blocking", "blockings", Waits).create(
    NewBlocking,
    _add_blocking,
    "`blocked_agent` waits for `blocked_by`. A wait that would close a circle is refused; the "
    "error shows the circle.",
    {},
)
BlockingList = answer("BlockingList", blockings=[WaitSince], count=int)
BlockingCheck = answer("BlockingCheck", blocker=str, blocked=str, is_blocked=bool)


@router.get("/api/blocking", response_model=BlockingList)
async def list_blockings(db: Db, project_id: fields.IdQuery = None) -> Response:
    """All waiting agents, the longest wait first; at most 1,000."""
    rows = await db.read(lambda c: blocking.list_all(c, project_id))
    return respond({"blockings": WaitSince.of_each(rows), "count": len(rows)})


@router.get("/api/blocking/check", response_model=BlockingCheck)
async def check_blocking(
    db: Db,
    blocker: Annotated[fields.AgentName, Query()],
    blocked: Annotated[fields.AgentName, Query()],
) -> Response:
    """Whether `blocked` waits directly for `blocker`."""
    waits = await db.read(lambda c: blocking.is_blocked(c, blocker, blocked))
    return respond({"blocker": blocker, "blocked": blocked, "is_blocked": waits})


@router.get("/api/blocking/{agent_id:text}", response_model=BlockingStatus)
async def blocking_of(agent_id: fields.AgentPath, db: Db) -> Response:
    """The agents that an agent waits for, and those that wait for it."""
    state = await db.read(lambda c: blocking.find_blockings(c, agent_id))
    waits_for, holds_up = state.waits_for, state.holds_up
    return respond(
        {
            "agent_id": agent_id,
            "is_blocked": bool(waits_for),
            "blocked_by": WaitsFor.of_each(waits_for),
            "is_blocking": bool(holds_up),
            "blocking": HoldsUp.of_each(holds_up),
            "summary": {"blocked_by_count": len(waits_for), "blocking_count": len(holds_up)},
        }
    )


Unblocked = answer("Unblocked", success=bool, unblocked=RemovedWait)


@router.post("/api/unblock", response_model=Unblocked, responses=NOT_FOUND)
async def unblock(body: BlockingPair, db: Db) -> Response:
    """End a wait by its two agents."""
    row = await db.write(lambda c: blocking.remove(c, body.blocked_by, body.blocked_agent))
    return respond({"success": True, "unblocked": RemovedWait.of(row)})


@router.delete(
    "/api/blocking/{blocking_id}",
    response_model=answer("BlockingsDeleted", success=bool),
    responses=NOT_FOUND,
)
async def remove_blocking(blocking_id: fields.IdPath, db: Db) -> Response:
    """End a wait by its id."""
    await db.write(lambda c: blocking.remove_by_id(c, str(blocking_id)))
    return respond({"success": True})


Work = Annotated[
    str,
    Field(min_length=1, max_length=fields.MOST_ID),
    AfterValidator(lambda text: redact(fields.plain(text))),
]


class NewClaim(fields.Body):
    project_id: fields.Id
    work: Work = Field(description="what is claimed, in words both sides use: `tests/login`")
    agent_id: fields.AgentName
    ttl_seconds: int = Field(claims.USUAL_TTL_SECONDS, ge=1, le=claims.MOST_TTL_SECONDS)


class ClaimHolder(ErrorAnswer):
    """The agent that has the claim, and until when."""

    id: str
    agent_id: str | None = None
    claimed_at: str | None = None
    expires_at: str | None = None


Claim = row_answer("Claim", tables.claims)
CLAIMED = {**NOT_FOUND, 409: {"model": ClaimHolder, "description": "Another has it"}}
ClaimReleased = answer("ClaimsReleased", success=bool, released=Claim)


def _take_claim(connection: Connection, given: Row, now_ms: int) -> Row:
    return claims.take(connection, now_ms=now_ms, **given)


def _list_claims(connection: Connection, limit: int, offset: int, **wanted: Any) -> Page:
    return claims.list_page(connection, limit, offset, row_times.now_ms(), **wanted)


Noun(router, "/api/claims", "claim", "claims", Claim).create(
    NewClaim,
    _take_claim,
    "Take a claim, or renew your own. Any agent may take an expired claim.",
    CLAIMED,
)


@router.delete("/api/claims", response_model=ClaimReleased, responses=CLAIMED)
async def release_claim(
    db: Db,
    project_id: Annotated[fields.Id, Query()],
    work: Annotated[Work, Query()],
    agent_id: Annotated[fields.AgentName, Query()],
) -> Response:
    """Release a claim. Only the agent that has it may do so."""
    now = row_times.now_ms()
    row = await db.write(lambda c: claims.release(c, project_id, work, agent_id, now))
    return respond({"success": True, "released": Claim.of(row)})


add_list(
    router,
    "/api/claims",
    "claims",
    Claim,
    _list_claims,
    "Claims that have not expired, soonest to expire first.",
    most=fields.LargeLimit,
    project_id=fields.Id,
    agent_id=fields.AgentName,
)

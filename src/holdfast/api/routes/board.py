"""What agents say to each other and share: `/api/messages`, `/api/subscriptions`, `/api/blocking`
(who waits for whom), `/api/claims` (one agent owns a piece of work for a while).
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import AfterValidator, AliasChoices, BaseModel, Field
from sqlalchemy.engine import Connection

from holdfast.api import fields
from holdfast.api.responses import (
    Db,
    ErrorAnswer,
    Noun,
    Paged,
    Router,
    answer,
    paging,
    respond,
    row_answer,
)
from holdfast.hub import row_times
from holdfast.hub.board import agreements, local_agents, messages, outboxes
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Page, Row
from holdfast.redact.find import redact

router = Router(tags=["board"])
# A message is handed to its recipients on this machine before the post is answered, so that the
# next hook prints it; if there are very many, the answer does not wait for the last.
HANDOUT_SECONDS = 0.25


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
    "id from_agent to_agent topic priority created_at expires_at is_broadcast:bool",
)
InboxMessage = answer("BoardMessage", "content:object already_read:bool", Posted)
Inbox = answer("AgentInbox", "agent_id:str count:int unread_remaining:int messages:BoardMessage[]")
RawMessage = row_answer(
    "RawMessage",
    tables.messages,
    "id project_id topic priority created_at expires_at from_agent_id:str to_agent_id:str? "
    "message_type:str payload:object read_by:str[] said_to:str[] state:str",
)
MessageList = answer("MessageList", "messages:RawMessage[] states:int{}", Paged)
MessageMade = answer("MessageMade", "success:bool message:Message")


@router.post("/api/messages", status_code=201, response_model=MessageMade)
async def post_message(body: NewMessage, db: Db) -> Response:
    """Post a message to one agent, or, if `to_agent` is absent or null, to every agent of the
    project."""
    row = messages.draft(now_ms=row_times.now_ms(), **body.given)
    await db.write(lambda c: messages.post(c, row))
    if local_agents.has_windows():
        going = asyncio.to_thread(outboxes.hand_out_posted, db.store, [row])
        await asyncio.wait([asyncio.ensure_future(going)], timeout=HANDOUT_SECONDS)
    return respond({"success": True, "message": Posted.of(row)}, 201)


@router.reads("/api/messages", MessageList)
@router.reads("/api/messages/all", MessageList)
def list_messages(
    connection: Connection,
    project_id: fields.IdQuery = None,
    without_topic: fields.WordQuery = None,
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Row:
    """Newest first. Nothing is marked as read. Expired messages are listed, and counted in
    `total`, until they are cleaned up. `without_topic` leaves out the messages of one topic."""
    now, where = row_times.now_ms(), (project_id, without_topic)
    page = messages.list_page(connection, limit, offset, *where)
    listing = [RawMessage.of(row, state=messages.state_of(row, now)) for row in page.rows]
    states = messages.states(connection, now, *where)
    return {"messages": listing, "states": states, **paging(page)}


@router.get("/api/messages/{agent_id:text}", response_model=Inbox)
async def inbox(
    agent_id: fields.AgentPath,
    db: Db,
    since: Annotated[fields.TimeMs | None, Query()] = None,
    topic: Annotated[fields.Topic | None, Query()] = None,
    include_broadcasts: bool = True,
    project_id: fields.IdQuery = None,
    limit: fields.LargeLimit = 100,
) -> Response:
    """The messages for this agent; reading marks them as read. Highest priority first, then
    oldest. Messages beyond the limit stay unread. `unread_remaining` counts all unread messages
    for the agent."""
    now = row_times.now_ms()
    ask = messages.Ask(agent_id, now, limit, project_id, since, topic, include_broadcasts)
    found = await db.read(lambda c: messages.look(c, ask))
    if found.unread_ids:
        looked = await asyncio.to_thread(outboxes.withdraw_read, found, ask)
        found = await db.write(lambda c: messages.mark(c, ask, looked))
    return respond(
        {
            "agent_id": agent_id,
            "messages": InboxMessage.of_each(found.rows),
            "count": len(found.rows),
            "unread_remaining": found.unread_remaining,
        }
    )


MOST_AGENTS, MOST_IDS = 200, 500
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


class ExchangeRequest(BaseModel):
    agents: Annotated[list[ExchangeWindow], Field(max_length=MOST_AGENTS)]


ExchangedMessage = row_answer(
    "ExchangedMessage",
    tables.messages,
    "id from_agent to_agent topic content age_ms:int left_ms:int",
)
Receipt = answer("DeliveryReceipt", "agent:str had:str[] messages:ExchangedMessage[]")


@router.writes(
    "POST", "/api/messages/exchange", answer("ExchangeAnswer", "agents:DeliveryReceipt[]")
)
def exchange(connection: Connection, body: ExchangeRequest) -> Row:
    """For each agent, in the order of the request: messages it has not got yet, oldest first, at
    most 50; and which of its waiting messages were read on another machine (`had`). Fetching marks
    nothing: report `said` and `confirmed` messages, as often as you like."""
    now = row_times.now_ms()
    receipts = []
    for window in body.agents:
        given, had = messages.exchange(connection, window.model_dump(), now)
        aged = [_aged(row, now) for row in given]
        receipts.append({"agent": window.agent, "messages": aged, "had": had})
    return {"agents": receipts}


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
AgentTopics = answer(
    "AgentSubscriptions", "agent_id:str topics:str[] count:int subscriptions:Subscription[]"
)
Pair = row_answer("SubscriptionPair", tables.subscriptions, "id agent_id topic")
SubscriptionGone = answer("SubscriptionsDeleted", "success:bool deleted:SubscriptionPair")
subscription = Noun(router, "/api/subscribe", "subscription", "subscriptions", Subscription)
subscription.create(
    NewSubscription,
    messages.subscribe,
    "After its first subscription, an agent gets only broadcasts of its topics.",
)
Noun(router, "/api/subscriptions", "subscription", "subscriptions", Subscription).list(
    messages.list_subscriptions,
    "Oldest first.",
    most=fields.LargeLimit,
    agent_id=fields.AgentName,
    topic=fields.Topic,
)


@router.reads("/api/subscriptions/{agent_id:text}", AgentTopics)
def subscriptions_of(connection: Connection, agent_id: fields.AgentPath) -> Row:
    """All topics of one agent."""
    rows = messages.list_subscriptions(connection, 1_000, 0, agent_id=agent_id).rows
    topics = [row["topic"] for row in rows]
    shown = {"subscriptions": Subscription.of_each(rows), "topics": topics, "count": len(rows)}
    return {"agent_id": agent_id, **shown}


@router.writes("POST", "/api/unsubscribe", SubscriptionGone)
def unsubscribe(connection: Connection, body: SubscriptionFilter) -> Row:
    """End the subscription of an agent to a topic."""
    pair = {"agent_id": body.agent_id, "topic": body.topic}
    return {"success": True, "deleted": Pair.of(messages.unsubscribe(connection, **pair))}


@router.writes("DELETE", "/api/subscriptions/{subscription_id}", SubscriptionGone)
def remove_subscription(connection: Connection, subscription_id: fields.IdPath) -> Row:
    """End a subscription by its id."""
    row = messages.unsubscribe(connection, id=str(subscription_id))
    return {"success": True, "deleted": Pair.of(row)}


class BlockingPair(fields.Body):
    blocked_by: fields.AgentName
    blocked_agent: fields.AgentName


class NewBlocking(BlockingPair):
    reason: fields.Text | None = None


Waits = row_answer("Blocking", tables.blockings)
RemovedWait = row_answer("BlockingRemoved", tables.blockings, "id blocked_by blocked_agent reason")
WaitSince = answer("BlockingSince", "since:str", RemovedWait)
WaitsFor = row_answer("BlockedBy", tables.blockings, "id reason by_agent:str since:str")
HoldsUp = row_answer("BlockedAgent", tables.blockings, "id blocked_agent reason since:str")
BlockingStatus = answer(
    "BlockingStatus",
    "agent_id:str is_blocked:bool is_blocking:bool blocked_by:BlockedBy[] blocking:BlockedAgent[]",
    summary=answer("BlockingCounts", "blocked_by_count:int blocking_count:int"),
)
Noun(router, "/api/blocking", "blocking", "blockings", Waits).create(
    NewBlocking, agreements.add_wait, "`blocked_agent` waits for `blocked_by`."
)


@router.reads("/api/blocking", answer("BlockingList", "count:int blockings:BlockingSince[]"))
def list_blockings(connection: Connection, project_id: fields.IdQuery = None) -> Row:
    """All waiting agents, the longest wait first; at most 1,000."""
    rows = agreements.list_waits(connection, project_id)
    return {"blockings": WaitSince.of_each(rows), "count": len(rows)}


@router.reads(
    "/api/blocking/check", answer("BlockingCheck", "blocker:str blocked:str is_blocked:bool")
)
def check_blocking(
    connection: Connection,
    blocker: Annotated[fields.AgentName, Query()],
    blocked: Annotated[fields.AgentName, Query()],
) -> Row:
    """Whether `blocked` waits directly for `blocker`."""
    waits = agreements.find_waits(connection, blocked_by=blocker, blocked_agent=blocked)
    return {"blocker": blocker, "blocked": blocked, "is_blocked": bool(waits)}


@router.reads("/api/blocking/{agent_id:text}", BlockingStatus)
def blocking_of(connection: Connection, agent_id: fields.AgentPath) -> Row:
    """The agents that an agent waits for, and those that wait for it."""
    waits_for = agreements.find_waits(connection, blocked_agent=agent_id)
    holds_up = agreements.find_waits(connection, blocked_by=agent_id)
    return {
        "agent_id": agent_id,
        "is_blocked": bool(waits_for),
        "blocked_by": WaitsFor.of_each(waits_for),
        "is_blocking": bool(holds_up),
        "blocking": HoldsUp.of_each(holds_up),
        "summary": {"blocked_by_count": len(waits_for), "blocking_count": len(holds_up)},
    }


@router.writes(
    "POST", "/api/unblock", answer("Unblocked", "success:bool unblocked:BlockingRemoved")
)
def unblock(connection: Connection, body: BlockingPair) -> Row:
    """End a wait by its two agents."""
    row = agreements.remove_wait(connection, **body.given)
    return {"success": True, "unblocked": RemovedWait.of(row)}


@router.writes("DELETE", "/api/blocking/{blocking_id}", answer("BlockingsDeleted", "success:bool"))
def remove_blocking(connection: Connection, blocking_id: fields.IdPath) -> Row:
    """End a wait by its id."""
    agreements.remove_wait(connection, id=str(blocking_id))
    return {"success": True}


Work = Annotated[
    str,
    Field(min_length=1, max_length=fields.MOST_ID),
    AfterValidator(lambda text: redact(fields.plain(text))),
]


class NewClaim(fields.Body):
    project_id: fields.Id
    work: Work = Field(description="what is claimed, in words both sides use: `tests/login`")
    agent_id: fields.AgentName
    ttl_seconds: int = Field(agreements.USUAL_TTL_SECONDS, ge=1, le=agreements.MOST_TTL_SECONDS)


class ClaimHolder(ErrorAnswer):
    """The agent that has the claim, and until when."""

    id: str
    agent_id: str | None = None
    claimed_at: str | None = None
    expires_at: str | None = None


Claim = row_answer("Claim", tables.claims)
CLAIMED: dict[int | str, Any] = {409: {"model": ClaimHolder, "description": "Another has it"}}


def _list_claims(connection: Connection, limit: int, offset: int, **wanted: Any) -> Page:
    return agreements.list_claims(connection, limit, offset, row_times.now_ms(), **wanted)


claim = Noun(router, "/api/claims", "claim", "claims", Claim)
claim.create(
    NewClaim,
    agreements.take_claim,
    "Take a claim, or renew your own. Any agent may take an expired claim.",
    responses=CLAIMED,
)
claim.list(
    _list_claims,
    "Claims that have not expired, soonest to expire first.",
    most=fields.LargeLimit,
    project_id=fields.Id,
    agent_id=fields.AgentName,
)
ClaimReleased = answer("ClaimsReleased", "success:bool released:Claim")


@router.writes("DELETE", "/api/claims", ClaimReleased, responses=CLAIMED)
def release_claim(
    connection: Connection,
    project_id: Annotated[fields.Id, Query()],
    work: Annotated[Work, Query()],
    agent_id: Annotated[fields.AgentName, Query()],
) -> Row:
    """Release a claim. Only the agent that has it may do so."""
    row = agreements.release_claim(connection, project_id, work, agent_id, row_times.now_ms())
    return {"success": True, "released": Claim.of(row)}

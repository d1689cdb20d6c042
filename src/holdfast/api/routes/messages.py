"""`/api/messages`: messages between agents. Both spellings of existing clients are accepted."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import AliasChoices, Field

from holdfast.api.database import Db
from holdfast.api.fields import (
    AgentName,
    AgentPath,
    Body,
    Id,
    Object,
    Offset,
    Text,
    TimeMs,
    Topic,
    Topics,
    WordQuery,
    require_topic,
)
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, Router, RowAnswer, paging, respond
from holdfast.hub import row_times
from holdfast.hub.board import deliveries, messages, outboxes
from holdfast.hub.board.deliveries import Ask
from holdfast.hub.store.rows import Row

router = Router(prefix="/api/messages", tags=["messages"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class NewMessage(Body):
    from_agent: AgentName = Field(
        validation_alias=AliasChoices("from_agent", "from_agent_id"),
        description="also accepted as `from_agent_id`",
    )
    to_agent: AgentName | None = Field(
        None,
        validation_alias=AliasChoices("to_agent", "to_agent_id"),
        description="nobody: every agent of the project; also accepted as `to_agent_id`",
    )
    topic: Topic
    content: Object | Text = Field(
        validation_alias=AliasChoices("content", "payload"),
        description="words are kept as `{message}`; also accepted as `payload`",
    )
    priority: int = Field(0, ge=0, le=messages.MOST_PRIORITY)
    ttl_seconds: int = Field(messages.USUAL_TTL_SECONDS, ge=1, le=messages.MOST_TTL_SECONDS)
    project_id: Id | None = None


class MessagePosted(RowAnswer):
    id: str
    from_agent: str
    to_agent: str | None
    topic: str
    priority: int
    created_at: str
    expires_at: str
    is_broadcast: bool


class MessageMade(ApiAnswer):
    success: bool
    message: MessagePosted


class BoardMessage(MessagePosted):
    content: dict[str, Any]
    already_read: bool


class AgentInbox(ApiAnswer):
    agent_id: str
    messages: list[BoardMessage]
    count: int
    unread_remaining: int


class RawMessages(RowAnswer):
    id: str
    project_id: str | None
    from_agent_id: str
    to_agent_id: str | None
    message_type: str
    topic: str
    payload: dict[str, Any]
    priority: int
    read_by: list[str]
    said_to: list[str]
    state: str
    created_at: str
    expires_at: str


class MessageList(Paged):
    messages: list[RawMessages]
    states: dict[str, int]


@router.post("", status_code=201, response_model=MessageMade, responses=NOT_FOUND)
async def post(body: NewMessage, request: Request) -> Response:
    """Post a message to one agent, or, if `to_agent` is absent or null, to every agent of the
    project."""
    state = request.app.state  # not as three dependencies, which take a third of a post's time
    require_topic(state.topics, body.topic)
    row = messages.draft(
        body.from_agent,
        body.topic,
        body.content,
        row_times.now_ms(),
        to_agent=body.to_agent,
        priority=body.priority,
        ttl_seconds=body.ttl_seconds,
        project_id=_text(body.project_id),
    )
    await state.database.write(lambda c: messages.post(c, row))
    await state.handing.hand(row)
    return respond(
        {"success": True, "message": MessagePosted.of(row, is_broadcast=row["to_agent"] is None)},
        201,
    )


@router.get("", response_model=MessageList)
@router.get("/all", response_model=MessageList)
async def listed(
    db: Db,
    project_id: Annotated[Id | None, Query()] = None,
    without_topic: WordQuery = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first. Nothing is marked as read. Expired messages are listed, and counted in
    `total`, until they are cleaned up. `without_topic` leaves out the messages of one topic."""
    now, where = row_times.now_ms(), (_text(project_id), without_topic)
    page = await db.read(lambda c: messages.list_page(c, limit, offset, *where))
    states = await db.read(lambda c: messages.states(c, now, *where))
    listing = [raw(row, now) for row in page.rows]
    return respond({"messages": listing, "states": states, **paging(page)})


@router.get("/{agent_id:text}", response_model=AgentInbox)
async def inbox(
    agent_id: AgentPath,
    db: Db,
    known: Topics,
    since: Annotated[TimeMs | None, Query()] = None,
    topic: Annotated[Topic | None, Query()] = None,
    include_broadcasts: bool = True,
    project_id: Annotated[Id | None, Query()] = None,
    limit: Limit = 100,
) -> Response:
    """The messages for this agent; reading marks them as read. Highest priority first, then
    oldest. Messages beyond the limit stay unread. `unread_remaining` counts all unread messages
    for the agent."""
    if topic is not None:
        require_topic(known, topic, "query")
    ask = Ask(
        agent_id,
        row_times.now_ms(),
        limit,
        _text(project_id),
        since,
        topic,
        include_broadcasts,
    )
    found = await db.read(lambda c: deliveries.look(c, ask))
    if found.unread_ids:
        looked = await asyncio.to_thread(outboxes.withdraw_read, found, ask)
        found = await db.write(lambda c: deliveries.mark(c, ask, looked))
    return respond(
        {
            "agent_id": agent_id,
            "messages": [
                BoardMessage.of(row, is_broadcast=row["to_agent"] is None) for row in found.rows
            ],
            "count": len(found.rows),
            "unread_remaining": found.unread_remaining,
        }
    )


def raw(row: Row, now_ms: int) -> dict[str, Any]:
    return RawMessages.of(
        row,
        from_agent_id=row["from_agent"],
        to_agent_id=row["to_agent"],
        message_type=row["topic"],
        payload=row["content"] or {},
        state=messages.state_of(row, now_ms),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)

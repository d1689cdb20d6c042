"""`/api/messages/exchange`: what agents of another machine are to be told, and were."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from holdfast.api.database import Db
from holdfast.api.fields import AgentName, Body, FilePath, Id
from holdfast.api.responses import ApiAnswer, said
from holdfast.api.router import Router
from holdfast.hub import ids, row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.team import message_server
from holdfast.hub.team.message_server import ServerExchange

router = Router(prefix="/api/messages", tags=["messages"])
MOST_AGENTS = 200
MOST_IDS = 500
Ids = Annotated[list[Id], Field(max_length=MOST_IDS)]


class ExchangeWindow(Body):
    """One agent of that machine."""

    agent: AgentName
    project_path: FilePath | None = Field(None, description="where it works")
    listens: bool = Field(True, description="it may be told something; else it only tells")
    hears_all: bool = Field(True, description="also what is for everybody")
    waiting: Ids = Field([], description="messages it was given and has not said yet")
    said: Ids = Field([], description="messages a hook there has printed")
    confirmed: Ids = Field([], description="messages its transcript shows")


class ExchangeRequest(Body):
    agents: Annotated[list[ExchangeWindow], Field(max_length=MOST_AGENTS)]


class ExchangedMessage(ApiAnswer):
    id: str
    from_agent: str
    to_agent: str | None
    topic: str
    content: dict[str, Any]
    age_ms: int
    left_ms: int


class DeliveryReceipt(ApiAnswer):
    agent: str
    messages: list[ExchangedMessage]
    had: list[str]


class ExchangeAnswer(ApiAnswer):
    """In the order they were asked for."""

    agents: list[DeliveryReceipt]


@router.post("/exchange", response_model=ExchangeAnswer)
async def post(body: ExchangeRequest, db: Db) -> Response:
    """For each agent what it has not been told yet, oldest first, at most 50, and which of those
    that wait there were read elsewhere (`had`). Nothing is marked by being given: tell what was
    `said` and `confirmed`, as often as you like."""
    now = row_times.now_ms()
    turns = [_turn(one) for one in body.agents]
    told = [one for one in turns if one.said or one.confirmed]
    if told:
        await db.write(lambda c: message_server.note(c, told, now))
    found = await db.read(lambda c: message_server.given(c, turns, now))
    return said(
        {
            "agents": [
                {
                    "agent": one.agent_id,
                    "messages": [carried(row, now) for row in given.rows],
                    "had": given.had,
                }
                for one, given in zip(turns, found, strict=True)
            ]
        }
    )


def carried(row: Row, now_ms: int) -> dict[str, Any]:
    same = {name: row[name] for name in ("id", "from_agent", "to_agent", "topic")}
    times = {"age_ms": now_ms - row["created_ms"], "left_ms": row["expires_ms"] - now_ms}
    return {**same, "content": row["content"] or {}, **times}


def _turn(one: ExchangeWindow) -> ServerExchange:
    where = one.project_path
    return ServerExchange(
        one.agent,
        ids.project_id(where) if where else None,
        one.listens,
        one.hears_all,
        one.waiting,
        one.said,
        one.confirmed,
    )

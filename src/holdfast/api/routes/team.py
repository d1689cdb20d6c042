"""Exchange with other machines: `/api/intake` takes what their sessions report, in order and
exactly once; `/api/messages/exchange` delivers messages to their agents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Depends, Request, Response
from pydantic import AfterValidator, Field
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError

from holdfast.api.database import Db
from holdfast.api.fields import AgentName, Body, FilePath, Id, Word, storable
from holdfast.api.responses import ApiAnswer, Router, RowAnswer, respond
from holdfast.hub import ids, row_times
from holdfast.hub.errors import Refused
from holdfast.hub.ingest import records
from holdfast.hub.ingest.sync import StalePosition, ingest_batch
from holdfast.hub.store.rows import Row
from holdfast.hub.team import message_server
from holdfast.hub.team.message_server import ServerExchange
from holdfast.redact import are_clean, redact, redact_named_values
from holdfast.wire import log


def clean(records: list[Any]) -> list[Any]:
    named: list[Any] = redact_named_values(records)
    if are_clean(_texts(named)):
        return named
    return [_clean(one) for one in named]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[: len(value)]  # a placeholder may be longer than its secret
    if isinstance(value, dict):
        return {redact(key): _clean(inner) for key, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list) else value


router = Router(prefix="/api/intake", tags=["intake"])
MOST_RECORDS = 10_000
Position = Annotated[dict[str, Any], AfterValidator(storable)]


class IntakeBatch(Body):
    """What one source reported between two positions. Only the source interprets its positions."""

    source: Word
    since: Position
    until: Position
    deeds: Annotated[list[Any], Field(max_length=MOST_RECORDS), AfterValidator(storable)]
    version: Literal[1] = 1


class IntakeAnswer(ApiAnswer):
    """Everything up to this position is stored; continue from here."""

    position: dict[str, Any]


class IntakeRefused(ApiAnswer):
    error: str
    position: dict[str, Any]


class BatchIntake:
    """How a batch is decoded, redacted and ingested; a test may replace it."""

    behind: type[StalePosition] = StalePosition

    def read(self, batch: dict[str, Any]) -> records.RecordBatch:
        try:
            cleaned = {**batch, "deeds": clean(batch["deeds"])}
            return records.decode(msgspec.json.encode(cleaned))
        except records.NoBatch as error:
            raise Refused(str(error), "deeds") from error

    def take(self, connection: Connection, batch: records.RecordBatch) -> None:
        ingest_batch(connection, batch)


async def _intake_of(request: Request) -> Any:
    state = request.app.state
    if getattr(state, "taking", None) is None:
        state.taking = BatchIntake()
    return state.taking


@router.post("", response_model=IntakeAnswer, responses={409: {"model": IntakeRefused}})
async def post(body: IntakeBatch, db: Db, taking: Annotated[Any, Depends(_intake_of)]) -> Response:
    """Store a batch completely. 409: the batch does not begin at this source's position, which
    the answer states."""
    batch = await asyncio.to_thread(lambda: taking.read(body.model_dump()))
    try:
        await db.write(lambda c: taking.take(c, batch))
    except (IntegrityError, DataError) as error:  # of rows that are not there, or are others
        log.add("ERROR", "intake", f"{body.source}: {error.orig}"[:300])
        raise Refused("These deeds do not fit what is here", "deeds") from error
    except taking.behind as elsewhere:
        return respond(
            {
                "error": "The batch does not begin at this source's position",
                "position": elsewhere.position,
            },
            409,
        )
    return respond({"position": body.until})


exchange_router = Router(prefix="/api/messages", tags=["messages"])
MOST_AGENTS = 200
MOST_IDS = 500
Ids = Annotated[list[Id], Field(max_length=MOST_IDS)]


class ExchangeWindow(Body):
    """One agent of the other machine."""

    agent: AgentName
    project_path: FilePath | None = Field(None, description="where it works")
    listens: bool = Field(True, description="it can get messages; otherwise it only reports")
    hears_all: bool = Field(True, description="also what is for everybody")
    waiting: Ids = Field([], description="messages it was given and has not said yet")
    said: Ids = Field([], description="messages a hook there has printed")
    confirmed: Ids = Field([], description="messages its transcript shows")


class ExchangeRequest(Body):
    agents: Annotated[list[ExchangeWindow], Field(max_length=MOST_AGENTS)]


class ExchangedMessage(RowAnswer):
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
    """One answer per window, in the order of the request."""

    agents: list[DeliveryReceipt]


@exchange_router.post("/exchange", response_model=ExchangeAnswer, name="post")
async def exchange(body: ExchangeRequest, db: Db) -> Response:
    """For each agent: messages it has not got yet, oldest first, at most 50; and which of its
    waiting messages were read on another machine (`had`). Fetching marks nothing: report `said`
    and `confirmed` messages, as often as you like."""
    now = row_times.now_ms()
    turns = [_turn(one) for one in body.agents]
    reported = [one for one in turns if one.said or one.confirmed]
    if reported:
        await db.write(lambda c: message_server.note(c, reported, now))
    found = await db.read(lambda c: message_server.find_messages(c, turns, now))
    return respond(
        {
            "agents": [
                {
                    "agent": one.agent_id,
                    "messages": [_message(row, now) for row in given.rows],
                    "had": given.had,
                }
                for one, given in zip(turns, found, strict=True)
            ]
        }
    )


def _message(row: Row, now_ms: int) -> dict[str, Any]:
    age_ms, left_ms = now_ms - row["created_ms"], row["expires_ms"] - now_ms
    return ExchangedMessage.of(row, age_ms=age_ms, left_ms=left_ms)


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

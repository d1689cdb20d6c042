"""What happened: `/api/events`, live as a stream or in pages; `/api/audit`, alerts and decisions;
`/api/intake` takes what sessions of other machines report, in order and exactly once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError
from starlette.types import Message, Receive, Scope, Send

from holdfast.api import fields
from holdfast.api.responses import (
    Database,
    Db,
    ErrorAnswer,
    Paged,
    Router,
    RowAnswer,
    answer,
    paging,
    respond,
    row_answer,
)
from holdfast.hub.errors import Refused, StoreError
from holdfast.hub.ingest import records
from holdfast.hub.ingest.sync import StalePosition, ingest_batch
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Page, Row, events_since, newest_event
from holdfast.hub.store.store import Store
from holdfast.hub.tree import audit
from holdfast.redact.find import are_clean, redact, redact_named_values
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

router = Router(tags=["events"])
HEARTBEAT_SECONDS = 15.0
STUCK_SECONDS = 60.0
AGAIN_SECONDS = 1.0
READ_AT_ONCE = 500
ASK_SECONDS = 0.5
MOST_LISTENERS = 100
PAUSE_SECONDS = 0.002  # per listener: a hundred of them look at most five times a second each

Number = Annotated[int, Query(ge=0, le=fields.MOST_BIGINT)]
LastId = Annotated[
    Annotated[int, Field(ge=0, le=fields.MOST_BIGINT)] | None,
    BeforeValidator(lambda told: told or None),  # a browser sends an empty one at first
]


EventRow = row_answer("Event", tables.events, "* body:object")
# `last`: pass it as `after` to get the next events. `missed`: events after the given number were
# already pruned.
EventList = answer("EventList", "count:int limit:int last:int more:bool missed:bool events:Event[]")


class Crowded(HoldfastError):
    """The limit of listeners is reached."""


class Hub:
    """Pokes the listeners of this process when there may be new events. Each reads and sends at its
    own pace, so a slow one delays no other. Commits of other processes poke too: while anybody
    listens, the newest event is asked for twice a second."""

    def __init__(self, store: Store, most: int = MOST_LISTENERS) -> None:
        self._store = store
        self._most = most
        self._listeners: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._others: asyncio.Task[None] | None = None
        self.stopping = False

    def poke(self) -> None:
        """Wake the listeners; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def stop(self) -> None:
        """End every listener, because the server ends."""
        self.stopping = True
        self.poke()

    def expect_room(self) -> None:
        if len(self._listeners) >= self._most:
            raise Crowded(f"{self._most} listen already")

    @property
    def pause_seconds(self) -> float:
        return PAUSE_SECONDS * len(self._listeners)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[asyncio.Event]:
        """Yield an event that is set whenever there may be something new; it is set at first."""
        self.expect_room()  # check again: many may have joined together
        self._loop = asyncio.get_running_loop()
        poked = asyncio.Event()
        poked.set()
        self._listeners.add(poked)
        if self._others is None:
            self._others = self._loop.create_task(self._hear_others())
            self._store.changed.append(self.poke)
        try:
            yield poked
        finally:
            self._listeners.discard(poked)
            if not self._listeners and self._others is not None:
                self._others.cancel()
                self._others = None
                self._store.changed.remove(self.poke)

    def _wake(self) -> None:
        for poked in self._listeners:
            poked.set()

    async def _hear_others(self) -> None:
        """Ask twice a second whether another process has committed events."""
        last, failed = -1, False
        while True:
            try:
                newest = await asyncio.to_thread(self._store.read, newest_event)
                if newest != last:
                    last = newest
                    self._wake()
                failed = False
            except Exception as error:
                if not failed:
                    log.add("WARN", "events", f"cannot hear of other processes: {error}")
                failed = True
            await asyncio.sleep(ASK_SECONDS)


async def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
    503: {"model": ErrorAnswer, "description": "Too many listen already, or the database is away"},
}


@router.get("/api/events", response_model=EventList, responses=STREAM)
async def get(
    request: Request,
    db: Db,
    hub: Annotated[Hub, Depends(_hub)],
    after: Number | None = None,
    project_id: fields.WordQuery = None,
    session_id: fields.WordQuery = None,
    kind: fields.WordQuery = None,
    limit: fields.LargeLimit = 100,
    last_event_id: Annotated[LastId, Header()] = None,
) -> Response:
    """A stream without an end; with `Accept: application/json`, a page. A stream begins now, a page
    with the oldest stored event, unless `after` or `Last-Event-ID` is given."""
    wanted = {"project_id": project_id, "session_id": session_id, "kind": kind}
    begin = last_event_id if last_event_id is not None else after
    accepts = request.headers.get("accept", "")
    if "json" in accepts and "event-stream" not in accepts:
        found = await db.read(lambda c: events_since(c, begin or 0, limit, **wanted))
        events = EventRow.of_each(found.rows)
        counts = {"count": len(events), "limit": limit, "last": found.last}
        return respond({"events": events, **counts, "more": found.more, "missed": found.missed})
    hub.expect_room()
    if begin is None:
        begin = await db.read(newest_event)
    return _Stream(db, hub, begin, wanted)


class _Stream(StreamingResponse):
    media_type = "text/event-stream"

    def __init__(self, db: Database, hub: Hub, after: int, wanted: dict[str, Any]) -> None:
        super().__init__(iter(()), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._db, self._hub, self._after, self._wanted = db, hub, after, wanted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def patient(message: Message) -> None:
            async with asyncio.timeout(STUCK_SECONDS):
                await send(message)

        with suppress(TimeoutError):  # a client that stopped reading can resume later
            async with self._hub.joined() as poked:
                self.body_iterator = self._events(poked)
                await super().__call__(scope, receive, patient)

    async def _events(self, poked: asyncio.Event) -> AsyncIterator[bytes]:
        yield b"retry: 2000\n: listening\n\n"
        while not self._hub.stopping:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await poked.wait()
            except TimeoutError:
                yield b": still here\n\n"
            poked.clear()
            try:
                async for events in self._news():
                    yield events
            except StoreError:
                yield b": the database does not answer\n\n"
                await asyncio.sleep(AGAIN_SECONDS)
                poked.set()
            await asyncio.sleep(self._hub.pause_seconds)

    async def _news(self) -> AsyncIterator[bytes]:
        """Read events, then send: nothing is held open while a reader is slow."""
        more = True
        while more and not self._hub.stopping:
            look = partial(events_since, after=self._after, limit=READ_AT_ONCE, **self._wanted)
            found = await self._db.read(look)
            if found.missed:
                yield b"event: missed\ndata: {}\n\n"
            if found.rows:
                yield b"".join(format_event(row) for row in found.rows)
            self._after, more = found.last, found.more


def format_event(row: Row) -> bytes:
    """Format one event for the stream. A kind may have no line ends."""
    kind = " ".join(str(row["kind"]).split())
    data = msgspec.json.encode(EventRow.of(row))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (row["id"], kind.encode(), data)


AuditEvent = row_answer("AuditEvent", tables.audit)
AuditList = answer("AuditEventList", "events:AuditEvent[]", Paged)


PressureDecision = answer(
    "PressureDecision",
    "session_id:str agent_id:str? at:str? turn:int? by:str? question:str? decision:str zone:str? "
    "level:str? used_ratio:float?",
    RowAnswer,
    doc="`zone`, `level` and `used_ratio` are those of the last alert before the decision; "
    "`question` is what it answers, `turn` the turn it was taken in, `by` the user or the model.",
)


DecisionList = answer("PressureDecisionList", "decisions:PressureDecision[]", Paged)


@router.reads("/api/audit/decisions", DecisionList)
def decisions(
    connection: Connection,
    session_id: fields.WordQuery = None,
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Row:
    """Decisions taken in an orange or red window, newest first, for review."""
    found = audit.list_decisions(connection, session_id)
    page = Page(found[offset : offset + limit], len(found), limit, offset)
    return {"decisions": PressureDecision.of_each(page.rows), **paging(page)}


@router.reads("/api/audit", AuditList, responses={200: {"content": {"application/x-ndjson": {}}}})
def list_audit(
    connection: Connection,
    project_id: fields.IdQuery = None,
    session_id: fields.WordQuery = None,
    kind: fields.WordQuery = None,
    format: Literal["json", "jsonl"] = "json",  # noqa: A002 (the name in the address)
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Row | Response:
    """Newest first; `format=jsonl` gives one event a line."""
    wanted = {"project_id": project_id, "session_id": session_id, "kind": kind}
    page = audit.list_page(connection, limit, offset, **wanted)
    events = AuditEvent.of_each(page.rows)
    if format == "jsonl":
        lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
        return Response(lines, media_type="application/x-ndjson")
    return {"events": events, **paging(page)}


MOST_RECORDS = 10_000
Position = Annotated[dict[str, Any], AfterValidator(fields.storable)]


class IntakeBatch(BaseModel):
    """What one source reported between two positions. Only the source interprets its positions."""

    source: fields.Word
    since: Position
    until: Position
    deeds: Annotated[list[Any], Field(max_length=MOST_RECORDS), AfterValidator(fields.storable)]
    version: Literal[1] = 1


IntakeAnswer = answer(
    "IntakeAnswer",
    "position:object",
    doc="Everything up to this position is stored; continue from here.",
)


IntakeRefused = answer("IntakeRefused", "error:str position:object")


def _read_batch(batch: dict[str, Any]) -> records.RecordBatch:
    try:
        cleaned = {**batch, "deeds": clean(batch["deeds"])}
        return records.decode(msgspec.json.encode(cleaned))
    except records.NoBatch as error:
        raise Refused(str(error), "deeds") from error


@router.post("/api/intake", response_model=IntakeAnswer, responses={409: {"model": IntakeRefused}})
async def take_in(body: IntakeBatch, db: Db) -> Response:
    """Store a batch completely. 409: the batch does not begin at this source's position, which
    the answer states."""
    batch = await asyncio.to_thread(_read_batch, body.model_dump())
    try:
        await db.write(lambda c: ingest_batch(c, batch))
    except (IntegrityError, DataError) as error:  # of rows that are not there, or are others
        log.add("ERROR", "intake", f"{body.source}: {error.orig}"[:300])
        raise Refused("These records do not fit the stored ones", "deeds") from error
    except StalePosition as elsewhere:
        words = "The batch does not begin at this source's position"
        return respond({"error": words, "position": elsewhere.position}, 409)
    return respond({"position": body.until})


def clean(records: list[Any]) -> list[Any]:
    named: list[Any] = redact_named_values(records)
    return named if are_clean(fields.texts_in(named)) else [_clean(record) for record in named]


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[: len(value)]  # a placeholder may be longer than its secret
    if isinstance(value, dict):
        return {redact(key): _clean(inner) for key, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list) else value

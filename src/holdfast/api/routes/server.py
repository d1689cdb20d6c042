"""The server itself: `/health` (the only route without a token), `/api/server`, `/stats`,
`/api/cleanup/stats`; `/metrics` for Prometheus; and `/api/login`, which exchanges a link that works
once for the token.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Request, Response
from pydantic import BaseModel, Field
from sqlalchemy.engine import Connection

import holdfast
from holdfast.api.login import GOOD_SECONDS, Tickets, link
from holdfast.api.responses import Db, Router, answer, respond
from holdfast.api.routes.machine.files import read_files
from holdfast.hub import cleanup, row_times
from holdfast.hub.errors import StoreError
from holdfast.hub.ingest import set_aside
from holdfast.hub.store.engine import public_message, shown_url
from holdfast.hub.store.rows import Row, count
from holdfast.hub.store.store import WriteHealth
from holdfast.hub.store.tables import metadata
from holdfast.hub.tree import readings
from holdfast.watcher import loop

if TYPE_CHECKING:
    from prometheus_client.core import Metric

router = Router(tags=["health"])
FEATURES = {f"phase{n}": "active" for n in range(1, 10)}
COUNTED = {
    "projectCount": "projects",
    "requestCount": "requests",
    "actionCount": "actions",
    "messageCount": "messages",
}


WriteFigures = answer(
    "WriteFigures",
    "written:int failed:int last_error:str? last_failed_at:str?",
    doc="Writes of this server since it started. A refused request (404, 409) counts as neither.",
)


DatabaseHealth = answer(
    "DatabaseHealth",
    "healthy:bool latencyMs:float capacity_percentage:float error:str?= writes:WriteFigures",
)


SourceFigures = answer(
    "SourceFigures",
    "set_aside:int",
    doc="Sessions and logs of this machine. `set_aside`: they could not be read into the database, "
    "and are tried again; `holdfast doctor` names them.",
)


RunningWatcher = answer(
    "RunningWatcher",
    "words:str inside:str since:str?",
    doc="The process that watches the sessions of this machine; null where none does.",
)


Health = answer(
    "ServerHealth",
    "status:str timestamp:str version:str database:DatabaseHealth sources:SourceFigures "
    "features:str{}",
)
Description = answer(
    "ServerDescription",
    "version:str machine:str watcher:RunningWatcher?",
    database=answer("ServerDatabase", "engine:str name:str"),
)
Stats = answer("ServerStats", "timestamp:str", **dict.fromkeys(COUNTED, int))
LastCleanup = answer(
    "LastCleanup",
    "deletedMessages:int closedSessions:int deletedAgentContexts:int failedSubtasks:int "
    "deletedAt:str durationMs:int",
)
answer("MessageFigures", "total:int expired:int active:int unread:int byTopic:int{}")
CleanupStats = answer(
    "CleanupStats",
    "proactive_snapshots:int last_snapshot:str? timestamp:str last_cleanup:LastCleanup? "
    "messages:MessageFigures",
)


@router.get("/health", response_model=Health, responses={503: {"model": Health}})
async def health(db: Db) -> Response:
    """Whether the server runs and its database answers. `degraded`: it answers, but a valid
    write failed in the last ten minutes, none has succeeded since one failed, or a session could
    not be read into the database.
    `capacity_percentage` is that of the fullest live window."""
    began = time.perf_counter()
    try:
        windows = await db.read(lambda c: readings.live(c, row_times.now_ms()))
        if db.store.damage is not None:  # some pages can still be read
            raise db.store.damage
    except StoreError as error:
        words = public_message(error)  # anybody may ask
        found = {"healthy": False, "error": words}
        return respond(_health(found, db.store.write_health, began), 503)
    fullest = readings.used_ratio(windows[0]) if windows else 0.0
    found = {"healthy": True, "capacity_percentage": round(100 * fullest, 2)}
    return respond(_health(found, db.store.write_health, began))


def _health(database: dict[str, Any], writes: WriteHealth, began: float) -> dict[str, Any]:
    latency = round((time.perf_counter() - began) * 1000, 3)
    failed = len(set_aside.load())
    status = "degraded" if failed or writes.is_degraded(row_times.now_ms()) else "healthy"
    figures = {
        "written": writes.written,
        "failed": writes.failed,
        "last_error": writes.last_error or None,
        "last_failed_at": row_times.to_iso(writes.failed_ms or None),
    }
    return {
        "status": status if database["healthy"] else "unhealthy",
        "timestamp": row_times.to_iso(row_times.now_ms()),
        "version": holdfast.__version__,
        "database": {
            "latencyMs": latency,
            "capacity_percentage": 0.0,
            "writes": figures,
            **database,
        },
        "sources": {"set_aside": failed},
        "features": FEATURES,
    }


@router.get("/api/server", response_model=Description)
async def describe(db: Db) -> Response:
    """Which database this server uses, and which process saves the sessions of its machine."""
    engine = db.store.engine
    held = await read_files(loop.holder)
    return respond(
        {
            "version": holdfast.__version__,
            "machine": os.uname().nodename,
            "database": {
                "engine": "SQLite" if db.store.is_sqlite else "PostgreSQL",
                "name": shown_url(engine.url),
            },
            "watcher": None if held is None else _watcher(held),
        }
    )


def _watcher(held: dict[str, Any]) -> dict[str, Any]:
    since_ms = held.get("since_ms")
    return {
        "words": loop.describe_holder(held),
        "inside": str(held.get("inside", "unknown")),
        "since": row_times.to_iso(since_ms) if type(since_ms) is int else None,
    }


@router.reads("/stats", Stats)
def stats(connection: Connection) -> Row:
    """How many rows there are."""
    found = {name: count(connection, metadata.tables[noun]) for name, noun in COUNTED.items()}
    return {**found, "timestamp": row_times.to_iso(row_times.now_ms())}


@router.reads("/api/cleanup/stats", CleanupStats)
def cleanup_stats(connection: Connection) -> Row:
    """The last cleanup, and what the next one will remove."""
    now = row_times.now_ms()
    last = cleanup.last(connection)
    proactive, newest = cleanup.snapshot_figures(connection)
    return {
        "last_cleanup": {**last[1], "deletedAt": row_times.to_iso(last[0])} if last else None,
        "messages": cleanup.message_figures(connection, now),
        "proactive_snapshots": proactive,
        "last_snapshot": row_times.to_iso(newest),
        "timestamp": row_times.to_iso(now),
    }


KIND = "text/plain; version=0.0.4; charset=utf-8"
LABELS = ("session_id", "agent_id", "zone", "alert")
GAUGES = {
    "holdfast_window_used_tokens": ("tokens in the window", "used_tokens"),
    "holdfast_window_edge_tokens": ("compaction limit in tokens", "edge_tokens"),
    "holdfast_window_used_ratio": ("share of the compaction limit used", "used_ratio"),
    "holdfast_window_estimated": ("1 where the tokens used are an estimate", "estimated"),
    "holdfast_window_velocity_tokens": ("tokens per step", "velocity_tokens_per_op"),
    "holdfast_window_minutes_left": ("minutes to the compaction limit", "minutes_left"),
    "holdfast_checkpoint_seconds": ("when the last checkpoint was taken", "checkpoint_ms"),
}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(db: Db) -> Response:
    """Windows that reported in the last half hour; writes since the server started."""
    from prometheus_client import generate_latest

    windows = await db.read(lambda c: readings.live(c, row_times.now_ms()))
    families = [*_of_windows(windows), *_of_writes(db.store.write_health)]
    registry: Any = SimpleNamespace(collect=lambda: families)
    return Response(generate_latest(registry), media_type=KIND)


def _of_windows(windows: list[Row]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    for name, (meaning, field) in GAUGES.items():
        family = GaugeMetricFamily(name, meaning, labels=LABELS)
        for row in windows:
            held = row["health"] or {}
            value = held.get(field)
            if isinstance(value, int | float):
                labels = [row["session_id"], row["agent_id"], held.get("zone") or "unknown"]
                seconds = value / 1000 if field == "checkpoint_ms" else value
                family.add_metric([*labels, held.get("alert") or ""], seconds)
        yield family


def _of_writes(health: WriteHealth) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield CounterMetricFamily("holdfast_writes", "writes acknowledged", health.written)
    yield CounterMetricFamily("holdfast_write_failures", "valid writes that failed", health.failed)
    meaning = "1 while a valid write failed in the last ten minutes, or none succeeded since"
    degraded = health.is_degraded(row_times.now_ms())
    yield GaugeMetricFamily("holdfast_writes_degraded", meaning, int(degraded))


NOT_GOOD = "This link was used already, or is too old: holdfast ui makes another"


class LoginTicket(BaseModel):  # a `Body` would redact it
    ticket: Annotated[str, Field(min_length=1, max_length=200)]


LoginToken = answer("LoginToken", "token:str", doc="The token; empty if this server needs none.")


NewTicket = answer("NewTicket", "ticket:str expires_at:str link:str")


@router.post("/api/login", response_model=LoginToken)
async def login(body: LoginTicket, request: Request) -> Response:
    """Exchange a ticket for the token. This request needs no token."""
    tickets: Tickets = request.app.state.tickets
    if tickets.token is None:
        return respond({"token": ""})
    if not tickets.take(body.ticket):
        return respond({"error": NOT_GOOD}, 401)
    return respond({"token": tickets.current_token()})


@router.post("/api/login/tickets", status_code=201, response_model=NewTicket)
async def ticket(request: Request) -> Response:
    """A ticket that works once, for five minutes, and the link to open in a browser."""
    tickets: Tickets = request.app.state.tickets
    made = tickets.new()
    until = row_times.now_ms() + int(GOOD_SECONDS * 1000)
    where = link(str(request.base_url), made)
    return respond({"ticket": made, "expires_at": row_times.to_iso(until), "link": where}, 201)

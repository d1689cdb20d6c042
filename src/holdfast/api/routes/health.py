"""`/health` (the one route without a token), `/stats`, `/api/cleanup/stats`."""

from __future__ import annotations

import time
from typing import Any

from fastapi import Response
from sqlalchemy.engine import Connection

import holdfast
from holdfast.api.database import Db
from holdfast.api.responses import ApiAnswer, said
from holdfast.api.router import Router
from holdfast.hub import row_times
from holdfast.hub.errors import StoreError
from holdfast.hub.repair import cleanup
from holdfast.hub.store import pending_writes
from holdfast.hub.store.driver_errors import in_public
from holdfast.hub.store.write_health import WriteHealth
from holdfast.hub.tree import capacity

router = Router(tags=["health"])
FEATURES = {f"phase{n}": "active" for n in range(1, 10)}
COUNTED = {
    "projectCount": "projects",
    "requestCount": "requests",
    "actionCount": "actions",
    "messageCount": "messages",
}


class WriteFigures(ApiAnswer):
    """Of this server since it started. A refused request (404, 409) is neither."""

    written: int
    failed: int
    last_error: str | None
    last_failed_at: str | None


class DatabaseHealth(ApiAnswer):
    healthy: bool
    latencyMs: float  # noqa: N815
    capacity_percentage: float
    error: str | None = None
    writes: WriteFigures


class ServerHealth(ApiAnswer):
    status: str
    timestamp: str
    version: str
    database: DatabaseHealth
    features: dict[str, str]


class ServerStats(ApiAnswer):
    projectCount: int  # noqa: N815
    requestCount: int  # noqa: N815
    actionCount: int  # noqa: N815
    messageCount: int  # noqa: N815
    timestamp: str


class LastCleanup(ApiAnswer):
    deletedMessages: int  # noqa: N815
    closedSessions: int  # noqa: N815
    deletedAgentContexts: int  # noqa: N815
    failedSubtasks: int  # noqa: N815
    deletedAt: str  # noqa: N815
    durationMs: int  # noqa: N815


class MessageFigures(ApiAnswer):
    total: int
    expired: int
    active: int
    unread: int
    byTopic: dict[str, int]  # noqa: N815


class CleanupStats(ApiAnswer):
    last_cleanup: LastCleanup | None
    messages: MessageFigures
    proactive_snapshots: int
    last_snapshot: str | None
    timestamp: str


@router.get("/health", response_model=ServerHealth, responses={503: {"model": ServerHealth}})
async def health(db: Db) -> Response:
    """Is the server there, and does its database answer? `degraded`: it answers, but a valid write
    failed in the last ten minutes, or none has succeeded since one failed. `capacity_percentage`
    is that of the fullest live window."""
    began = time.perf_counter()
    try:
        windows = await db.read(lambda c: capacity.live(c, row_times.now_ms()))
        if db.store.damage is not None:  # some pages can still be read
            raise db.store.damage
    except StoreError as slip:
        words = in_public(slip)  # anybody may ask
        found = {"healthy": False, "error": words}
        return said(_health(found, db.store.write_health, began), 503)
    fullest = capacity.used_ratio(windows[0]) if windows else 0.0
    found = {"healthy": True, "capacity_percentage": round(100 * fullest, 2)}
    return said(_health(found, db.store.write_health, began))


def _health(database: dict[str, Any], writes: WriteHealth, began: float) -> dict[str, Any]:
    latency = round((time.perf_counter() - began) * 1000, 3)
    status = "degraded" if writes.is_degraded(row_times.now_ms()) else "healthy"
    figures = {
        "written": writes.written,
        "failed": writes.failed,
        "last_error": writes.last_error or None,
        "last_failed_at": row_times.written(writes.failed_ms or None),
    }
    return {
        "status": status if database["healthy"] else "unhealthy",
        "timestamp": row_times.written(row_times.now_ms()),
        "version": holdfast.__version__,
        "database": {
            "latencyMs": latency,
            "capacity_percentage": 0.0,
            "writes": figures,
            **database,
        },
        "features": FEATURES,
    }


@router.get("/stats", response_model=ServerStats)
async def stats(db: Db) -> Response:
    """How many rows there are."""
    found = await db.read(
        lambda c: {name: pending_writes.counted(c, noun) for name, noun in COUNTED.items()}
    )
    return said({**found, "timestamp": row_times.written(row_times.now_ms())})


@router.get("/api/cleanup/stats", response_model=CleanupStats)
async def cleanup_stats(db: Db) -> Response:
    """The last cleaning, and what waits for the next."""
    now = row_times.now_ms()

    def look(connection: Connection) -> dict[str, Any]:
        last = cleanup.last(connection)
        proactive, newest = cleanup.snapshot_figures(connection)
        return {
            "last_cleanup": {**last[1], "deletedAt": row_times.written(last[0])} if last else None,
            "messages": cleanup.message_figures(connection, now),
            "proactive_snapshots": proactive,
            "last_snapshot": row_times.written(newest),
            "timestamp": row_times.written(now),
        }

    return said(await db.read(look))

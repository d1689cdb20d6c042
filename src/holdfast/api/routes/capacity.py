"""`/api/capacity`, `/api/tokens/track`, `/api/context/health`: how full a window is, so that work
can be routed.

If hooks report the window, the number is their reading. A percentage is a share of the compaction
limit, so `max_capacity` is the compaction limit; `window_tokens` is the whole window.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import Query, Request, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import MOST_INT, AgentPath, Body, IdQuery, Size, Text, Word
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Router, answer, no_content, respond
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere, StoreError
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import capacity

router = Router(prefix="/api", tags=["capacity"])
Fits = Annotated[int | None, Query(ge=0, le=MOST_INT)]
SAVES = frozenset(("advisory", "urgent"))
ADVICE = {
    "none": "There is room; go on.",
    "warn": "The window is filling; finish what is begun before starting more.",
    "save": "Take a checkpoint now.",
    "compact": "Compact now: /compact.",
    "unknown": "No reading of this agent's window has been reported.",
}


HELD = (
    *("edge_tokens", "used_ratio", "basis", "ops_left_low", "ops_left_high", "forecast_basis"),
    *("model", "client_version", "checkpoint_trigger", "machine"),
)


class Track(Body):
    agent_id: Word
    session_id: Word
    tool_name: Word
    input_size: Size = 0
    output_size: Size = 0
    model_id: Text | None = None


Short = answer(
    "ShortCapacity",
    zone=str,
    alert=str | None,
    usage_percent=float,
    estimated=bool,
    minutes_remaining=str,
    current_usage=int,
    max_capacity=int,
    compact_count=int,
)
Capacity = answer(
    "Capacity",
    Short,
    agent_id=str,
    session_id=str,
    window_tokens=int,
    consumption_rate=float,
    shouldIntervene=bool,
    last_compact_at=str | None,
    last_updated_at=str,
)


class CapacityRoom(ApiAnswer):
    """What an orchestrator needs to hand out work; null means unknown."""

    status: str
    recommended_action: str
    zone: str
    alert: str | None
    room_tokens: int | None
    estimated: bool
    velocity_tokens_per_op: float | None
    ops_left: int | None
    minutes_left: float | None
    checkpoint_ms: int | None
    fits: bool | None


class AgentCapacity(CapacityRoom):
    """For a session's own window (`is_main`), `agent_id` is the session's id. `used_ratio` is
    the share of `edge_tokens`, the compaction limit; `title` is the session's first request,
    `asked` its last or the task of the agent; `trend` has up to 40 of the last steps."""

    agent_id: str
    session_id: str
    agent_type: str | None
    is_main: bool
    updated_at: str | None
    used_tokens: int
    edge_tokens: int | None
    used_ratio: float | None
    basis: str | None
    compacting: bool
    ops_left_low: int | None
    ops_left_high: int | None
    forecast_basis: str | None
    model: str | None
    client_version: str | None
    compactions: int
    checkpoint_trigger: str | None
    machine: str | None
    project_id: str | None
    project_path: str | None
    project_name: str | None
    title: str | None
    asked: str | None
    trend: list[float]


AgentCapacityList = answer("AgentCapacityList", agents=[AgentCapacity], count=int)
CapacityHealth = answer(
    "CapacityHealth",
    server=answer("ServerCapacity", status=str, uptime_seconds=int),
    capacity=Short,
    room=CapacityRoom,
    recommendation=answer("Recommendation", action=str, message=str),
    shouldCompact=bool,
)


@router.post("/tokens/track", status_code=204, response_class=Response)
async def track(body: Track, db: Db) -> Response:
    """For clients that count what they send. If hooks read the window, their number stays."""
    now, chars = row_times.now_ms(), body.input_size + body.output_size
    await db.write(
        lambda c: capacity.track(c, body.session_id, body.agent_id, chars, body.model_id, now)
    )
    return no_content()


@router.get("/capacity/{agent_id:text}", response_model=Capacity, responses=NOT_FOUND)
async def get(agent_id: AgentPath, db: Db) -> Response:
    """The newest window of this agent, or of the session with this id."""
    return respond(
        answer_for(agent_id, _require(await db.read(lambda c: capacity.find(c, agent_id))))
    )


@router.post("/capacity/{agent_id:text}/reset", response_model=Capacity, responses=NOT_FOUND)
async def reset(agent_id: AgentPath, db: Db) -> Response:
    """Report that the window was compacted. This changes no reading; the next one shows it."""

    def change(connection: Connection) -> Row:
        row = _require(capacity.find(connection, agent_id))
        return capacity.reset(connection, row, row_times.now_ms())

    return respond(answer_for(agent_id, await db.write(change)))


@router.get("/context/health", response_model=AgentCapacityList)
async def agents(db: Db, fits: Fits = None, project_id: IdQuery = None) -> Response:
    """Every live agent, the fullest first: zone, forecast, room left, and whether a task of
    `fits` tokens would end before the compaction limit."""
    now = row_times.now_ms()

    def look(connection: Connection) -> list[dict[str, Any]]:
        found = capacity.live(connection, now, project_id)
        more = capacity.describe_windows(connection, found)
        return [{**_agent(row, fits), **also} for row, also in zip(found, more, strict=True)]

    listed = await db.read(look)
    return respond({"agents": listed, "count": len(listed)})


@router.get("/context/health/{agent_id:text}", response_model=CapacityHealth)
async def health(agent_id: AgentPath, db: Db, request: Request, fits: Fits = None) -> Response:
    """Always answers: `unknown` for an unknown agent, `degraded` without a database."""
    status = "healthy"
    try:
        row = await db.read(lambda c: capacity.find(c, agent_id))
    except StoreError:
        row, status = None, "degraded"
    whole = answer_for(agent_id, row) if row else UNKNOWN
    action = advise(row)
    started: float = request.app.state.started
    return respond(
        {
            "server": {"status": status, "uptime_seconds": int(time.monotonic() - started)},
            "capacity": {name: whole[name] for name in Short.model_fields},
            "room": capacity.room(row, fits),
            "recommendation": {"action": action, "message": _advice(row, action)},
            "shouldCompact": action == "compact",
        }
    )


def _agent(row: Row, fits: int | None) -> dict[str, Any]:
    held = row["health"] or {}
    return {
        "agent_id": row["agent_id"] or row["session_id"],
        "session_id": row["session_id"],
        "agent_type": held.get("agent_type"),
        "is_main": not row["agent_id"],
        **capacity.room(row, fits),
        "updated_at": row_times.to_iso(row["updated_ms"]),
        "used_tokens": row["used_tokens"],
        "compacting": bool(held.get("compacting")),
        "compactions": max(int(held.get("compactions") or 0), row["compact_count"]),
        **{name: held.get(name) for name in HELD},
    }


def answer_for(agent_id: str, row: Row) -> dict[str, Any]:
    held = row["health"] or {}
    edge = int(held.get("edge_tokens") or 0)
    minutes = held.get("minutes_left")
    room = max(0, edge - row["used_tokens"])
    return {
        "agent_id": agent_id,
        "session_id": row["session_id"],
        "current_usage": row["used_tokens"],
        "max_capacity": edge,
        "window_tokens": int(held.get("window_tokens") or 0),
        "usage_percent": round(100 * capacity.used_ratio(row), 2),
        "consumption_rate": round(room / minutes, 1) if minutes else 0.0,
        "zone": held.get("zone") or "unknown",
        "alert": held.get("alert"),
        "estimated": bool(held.get("estimated", True)),
        "minutes_remaining": _minutes(minutes),
        "shouldIntervene": advise(row) in ("save", "compact"),
        "compact_count": row["compact_count"],
        "last_compact_at": row_times.to_iso(row["compacted_ms"]),
        "last_updated_at": row_times.to_iso(row["updated_ms"]),
    }


UNKNOWN: dict[str, Any] = {
    "zone": "unknown",
    "estimated": True,
    "alert": None,
    "usage_percent": 0.0,
    "minutes_remaining": "unknown",
    "current_usage": 0,
    "max_capacity": 0,
    "compact_count": 0,
}


def advise(row: Row | None) -> str:
    """none, warn, save or compact, from zone and alert."""
    held = (row or {}).get("health") or {}
    zone, alert = held.get("zone"), held.get("alert")
    if alert == "critical":
        return "compact"
    if alert in SAVES or zone == "red":
        return "save"
    return "warn" if zone == "orange" else "none"


def _advice(row: Row | None, action: str) -> str:
    return ADVICE[action if row else "unknown"]


def _minutes(minutes: Any) -> str:
    """Format minutes as "10m" or "1h 5m"; "∞" for a window that does not fill."""
    if not isinstance(minutes, int | float):
        return "∞"
    whole = max(0, int(minutes))
    return f"{whole}m" if whole < 60 else f"{whole // 60}h {whole % 60}m"


def _require(row: Row | None) -> Row:
    if row is None:
        raise NotThere("Agent capacity")
    return row

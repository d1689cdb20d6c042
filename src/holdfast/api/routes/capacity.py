"""`/api/capacity`, `/api/context/health`: how full a window is, so that work can be routed.

If hooks report the window, the number is their reading. A percentage is a share of the compaction
limit, so `max_capacity` is the compaction limit; `window_tokens` is the whole window.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import Query, Request, Response
from sqlalchemy.engine import Connection

from holdfast.api.fields import MOST_INT, AgentPath, IdQuery
from holdfast.api.responses import Db, Router, answer, respond
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere, StoreError
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import readings

router = Router(prefix="/api", tags=["capacity"])
Fits = Annotated[int | None, Query(ge=0, le=MOST_INT)]
ADVICE = {
    "none": "There is room; go on.",
    "warn": "The window is filling; finish what is begun before starting more.",
    "save": "Take a checkpoint now.",
    "compact": "Compact now: /compact.",
    "unknown": "No reading of this agent's window has been reported.",
}


CapacityRoom = answer(
    "CapacityRoom",
    "status:str recommended_action:str zone:str alert:str? room_tokens:int? estimated:bool "
    "velocity_tokens_per_op:float? ops_left:int? minutes_left:float? checkpoint_ms:int? "
    "fits:bool?",
    doc="What an orchestrator needs to hand out work; null means unknown.",
)
Short = answer(
    "ShortCapacity",
    "zone:str alert:str? usage_percent:float estimated:bool minutes_remaining:str "
    "current_usage:int max_capacity:int compact_count:int",
)
Capacity = answer(
    "Capacity",
    "agent_id:str session_id:str window_tokens:int consumption_rate:float shouldIntervene:bool "
    "last_compact_at:str? last_updated_at:str",
    Short,
)
AgentCapacity = answer(
    "AgentCapacity",
    "agent_id:str session_id:str agent_type:str? is_main:bool updated_at:str? used_tokens:int "
    "compacting:bool compactions:int edge_tokens:int? ops_left_low:int? ops_left_high:int? "
    "used_ratio:float? pace_ms:float? basis:str? forecast_basis:str? model:str? "
    "client_version:str? checkpoint_trigger:str? machine:str? project_id:str? project_path:str? "
    "project_name:str? title:str? asked:str? answers:str? trend:float[]",
    CapacityRoom,
)
AgentCapacityList = answer("AgentCapacityList", "count:int agents:AgentCapacity[]")
CapacityHealth = answer(
    "CapacityHealth",
    "shouldCompact:bool capacity:ShortCapacity room:CapacityRoom",
    server=answer("ServerCapacity", "status:str uptime_seconds:int"),
    recommendation=answer("Recommendation", "action:str message:str"),
)


def _short_capacity(row: Row | None) -> Row:
    """The same form for an agent of which nothing was reported."""
    row = row or {"health": {}, "used_tokens": 0, "compact_count": 0}
    held = row["health"] or {}
    return {
        "zone": held.get("zone") or "unknown",
        "alert": held.get("alert"),
        "usage_percent": round(100 * readings.used_ratio(row), 2),
        "estimated": bool(held.get("estimated", True)),
        "minutes_remaining": _minutes(held.get("minutes_left")),
        "current_usage": row["used_tokens"],
        "max_capacity": int(held.get("edge_tokens") or 0),
        "compact_count": row["compact_count"],
    }


def _capacity_of(row: Row, agent_id: str) -> Row:
    held = row["health"] or {}
    return {
        "agent_id": agent_id,
        **_short_capacity(row),
        "session_id": row["session_id"],
        "window_tokens": int(held.get("window_tokens") or 0),
        "consumption_rate": _tokens_per_minute(held, row["used_tokens"]),
        "shouldIntervene": advise(row) in ("save", "compact"),
        "last_compact_at": row_times.to_iso(row["compacted_ms"]),
        "last_updated_at": row_times.to_iso(row["updated_ms"]),
    }


def _agent_capacity(row: Row) -> Row:
    held = row["health"] or {}
    return {
        **{name: held.get(name) for name in AgentCapacity.model_fields},
        "agent_id": row["agent_id"] or row["session_id"],
        "session_id": row["session_id"],
        "is_main": not row["agent_id"],
        "updated_at": row_times.to_iso(row["updated_ms"]),
        "used_tokens": row["used_tokens"],
        "compacting": bool(held.get("compacting")),
        "compactions": max(held.get("compactions") or 0, row["compact_count"]),
    }


def _window_of(connection: Connection, agent_id: str) -> Row:
    if row := readings.find(connection, agent_id):
        return row
    raise NotThere("Agent capacity")


@router.reads("/capacity/{agent_id:text}", Capacity)
def get(connection: Connection, agent_id: AgentPath) -> Row:
    """The newest window of this agent, or of the session with this id."""
    return _capacity_of(_window_of(connection, agent_id), agent_id)


@router.writes("POST", "/capacity/{agent_id:text}/reset", Capacity)
def reset(connection: Connection, agent_id: AgentPath) -> Row:
    """Report that the window was compacted. This changes no reading; the next one shows it."""
    row = _window_of(connection, agent_id)
    return _capacity_of(readings.reset(connection, row, row_times.now_ms()), agent_id)


@router.reads("/context/health", AgentCapacityList)
def agents(connection: Connection, fits: Fits = None, project_id: IdQuery = None) -> Row:
    """Every live agent, the fullest first: zone, forecast, room left, and whether a task of
    `fits` tokens would end before the compaction limit. For a session's own window (`is_main`),
    `agent_id` is the session's id. `used_ratio` is the share of `edge_tokens`, the compaction
    limit; `title` is the session's first request, `asked` its last or the task of the agent,
    `answers` the question that a short one answers; `trend` has up to 40 of the last steps."""
    found = readings.live(connection, row_times.now_ms(), project_id)
    more = readings.describe_windows(connection, found)
    listed = [
        {**_agent_capacity(row), **readings.room(row, fits), **described}
        for row, described in zip(found, more, strict=True)
    ]
    return {"agents": listed, "count": len(listed)}


@router.get("/context/health/{agent_id:text}", response_model=CapacityHealth)
async def health(agent_id: AgentPath, db: Db, request: Request, fits: Fits = None) -> Response:
    """Always answers: `unknown` for an unknown agent, `degraded` without a database."""
    status = "healthy"
    try:
        row = await db.read(lambda c: readings.find(c, agent_id))
    except StoreError:
        row, status = None, "degraded"
    action = advise(row)
    short = _short_capacity(row)
    short["minutes_remaining"] = short["minutes_remaining"] if row else "unknown"
    started: float = request.app.state.started
    return respond(
        {
            "server": {"status": status, "uptime_seconds": int(time.monotonic() - started)},
            "capacity": short,
            "room": readings.room(row, fits),
            "recommendation": {"action": action, "message": ADVICE[action if row else "unknown"]},
            "shouldCompact": action == "compact",
        }
    )


def advise(row: Row | None) -> str:
    """none, warn, save or compact, from zone and alert."""
    held = (row or {}).get("health") or {}
    zone, alert = held.get("zone"), held.get("alert")
    if alert == "critical":
        return "compact"
    if alert in ("advisory", "urgent") or zone == "red":
        return "save"
    return "warn" if zone == "orange" else "none"


def _tokens_per_minute(held: Row, used_tokens: int) -> float:
    minutes = held.get("minutes_left")
    room = max(0, int(held.get("edge_tokens") or 0) - used_tokens)
    return round(room / minutes, 1) if minutes else 0.0


def _minutes(minutes: Any) -> str:
    """Format minutes as "10m" or "1h 5m"; "∞" for a window that does not fill."""
    if not isinstance(minutes, int | float):
        return "∞"
    whole = max(0, int(minutes))
    return f"{whole}m" if whole < 60 else f"{whole // 60}h {whole % 60}m"

"""`/api/capacity`, `/api/context/health`: how full a window is, so that work can be routed.

If hooks report the window, the number is their reading. A percentage is a share of the compaction
limit, so `max_capacity` is the compaction limit; `window_tokens` is the whole window.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query, Request, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import MOST_INT, AgentPath, IdQuery
from holdfast.api.responses import ApiAnswer, Router, answer, respond
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere, StoreError
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import readings

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


# Fields of an answer: what each may be, and how it is read from a window.
Table = dict[str, tuple[Any, Callable[[Row], Any]]]


def _field(name: str) -> Callable[[Row], Any]:
    return lambda row: row["health"].get(name)


SHORT: Table = {
    "zone": (str, lambda row: row["health"].get("zone") or "unknown"),
    "alert": (str | None, _field("alert")),
    "usage_percent": (float, lambda row: round(100 * readings.used_ratio(row), 2)),
    "estimated": (bool, lambda row: bool(row["health"].get("estimated", True))),
    "minutes_remaining": (str, lambda row: _minutes(row["health"].get("minutes_left"))),
    "current_usage": (int, lambda row: row["used_tokens"]),
    "max_capacity": (int, lambda row: int(row["health"].get("edge_tokens") or 0)),
    "compact_count": (int, lambda row: row["compact_count"]),
}
WHOLE: Table = {
    **SHORT,
    "session_id": (str, lambda row: row["session_id"]),
    "window_tokens": (int, lambda row: int(row["health"].get("window_tokens") or 0)),
    "consumption_rate": (float, lambda row: _tokens_per_minute(row["health"], row["used_tokens"])),
    "shouldIntervene": (bool, lambda row: advise(row) in ("save", "compact")),
    "last_compact_at": (str | None, lambda row: row_times.to_iso(row["compacted_ms"])),
    "last_updated_at": (str, lambda row: row_times.to_iso(row["updated_ms"])),
}
AGENT: Table = {
    "agent_id": (str, lambda row: row["agent_id"] or row["session_id"]),
    "session_id": (str, lambda row: row["session_id"]),
    "agent_type": (str | None, _field("agent_type")),
    "is_main": (bool, lambda row: not row["agent_id"]),
    "updated_at": (str | None, lambda row: row_times.to_iso(row["updated_ms"])),
    "used_tokens": (int, lambda row: row["used_tokens"]),
    "compacting": (bool, lambda row: bool(row["health"].get("compacting"))),
    "compactions": (
        int,
        lambda row: max(row["health"].get("compactions") or 0, row["compact_count"]),
    ),
    **{
        name: (int | None, _field(name))
        for name in ("edge_tokens", "ops_left_low", "ops_left_high")
    },
    **{name: (float | None, _field(name)) for name in ("used_ratio", "pace_ms")},
    **{
        name: (str | None, _field(name))
        for name in (
            *("basis", "forecast_basis", "model"),
            *("client_version", "checkpoint_trigger", "machine"),
        )
    },
}
DESCRIBED = ("project_id", "project_path", "project_name", "title", "asked")
# What is said of an agent of which nothing was reported.
UNKNOWN: Row = {"health": {}, "used_tokens": 0, "compact_count": 0}


def _model(name: str, table: Table, base: type[ApiAnswer] = ApiAnswer, **more: Any) -> Any:
    return answer(name, "", base, **{key: kind for key, (kind, _) in table.items()}, **more)


def _shown(table: Table, row: Row) -> dict[str, Any]:
    row = {**row, "health": row["health"] or {}}
    return {name: read(row) for name, (_, read) in table.items()}


CapacityRoom = answer(
    "CapacityRoom",
    "status:str recommended_action:str zone:str alert:str? room_tokens:int? estimated:bool "
    "velocity_tokens_per_op:float? ops_left:int? minutes_left:float? checkpoint_ms:int? "
    "fits:bool?",
    doc="What an orchestrator needs to hand out work; null means unknown.",
)


Short = _model("ShortCapacity", SHORT)
Capacity = _model("Capacity", WHOLE, agent_id=str)
AgentCapacity = _model(
    "AgentCapacity", AGENT, CapacityRoom, **dict.fromkeys(DESCRIBED, str | None), trend=list[float]
)
AgentCapacityList = answer("AgentCapacityList", "count:int", agents=[AgentCapacity])
CapacityHealth = answer(
    "CapacityHealth",
    "shouldCompact:bool",
    server=answer("ServerCapacity", "status:str uptime_seconds:int"),
    capacity=Short,
    room=CapacityRoom,
    recommendation=answer("Recommendation", "action:str message:str"),
)


@router.reads("/capacity/{agent_id:text}", Capacity)
def get(connection: Connection, agent_id: AgentPath) -> Row:
    """The newest window of this agent, or of the session with this id."""
    row = _require(readings.find(connection, agent_id))
    return {"agent_id": agent_id, **_shown(WHOLE, row)}


@router.writes("POST", "/capacity/{agent_id:text}/reset", Capacity)
def reset(connection: Connection, agent_id: AgentPath) -> Row:
    """Report that the window was compacted. This changes no reading; the next one shows it."""
    row = _require(readings.find(connection, agent_id))
    freed = readings.reset(connection, row, row_times.now_ms())
    return {"agent_id": agent_id, **_shown(WHOLE, freed)}


@router.reads("/context/health", AgentCapacityList)
def agents(connection: Connection, fits: Fits = None, project_id: IdQuery = None) -> Row:
    """Every live agent, the fullest first: zone, forecast, room left, and whether a task of
    `fits` tokens would end before the compaction limit. For a session's own window (`is_main`),
    `agent_id` is the session's id. `used_ratio` is the share of `edge_tokens`, the compaction
    limit; `title` is the session's first request, `asked` its last or the task of the agent;
    `trend` has up to 40 of the last steps."""
    found = readings.live(connection, row_times.now_ms(), project_id)
    more = readings.describe_windows(connection, found)
    listed = [
        {**_shown(AGENT, row), **readings.room(row, fits), **described}
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
    short = _shown(SHORT, row or UNKNOWN)
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
    if alert in SAVES or zone == "red":
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


def _require(row: Row | None) -> Row:
    if row is None:
        raise NotThere("Agent capacity")
    return row

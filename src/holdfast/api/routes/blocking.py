"""`/api/blocking`, `/api/unblock`: which agent waits for which."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from holdfast.api.database import Db
from holdfast.api.fields import AgentName, AgentPath, Body, IdPath, IdQuery, Text
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Router, respond
from holdfast.hub import row_times
from holdfast.hub.board import blocking
from holdfast.hub.store.rows import Row

router = Router(prefix="/api", tags=["blocking"])
Agent = Annotated[AgentName, Query()]


class BlockingPair(Body):
    blocked_by: AgentName
    blocked_agent: AgentName


class NewBlocking(BlockingPair):
    reason: Text | None = None


class BlockingRemoved(ApiAnswer):
    id: str
    blocked_by: str
    blocked_agent: str
    reason: str | None


class Blocking(BlockingRemoved):
    created_at: str


class BlockingMade(ApiAnswer):
    success: bool
    blocking: Blocking


class BlockedBy(ApiAnswer):
    id: str
    by_agent: str
    reason: str | None
    since: str


class BlockedAgent(ApiAnswer):
    id: str
    blocked_agent: str
    reason: str | None
    since: str


class BlockingSince(BlockingRemoved):
    since: str


class BlockingList(ApiAnswer):
    blockings: list[BlockingSince]
    count: int


class BlockingCounts(ApiAnswer):
    blocked_by_count: int
    blocking_count: int


class BlockingStatus(ApiAnswer):
    agent_id: str
    is_blocked: bool
    blocked_by: list[BlockedBy]
    is_blocking: bool
    blocking: list[BlockedAgent]
    summary: BlockingCounts


class BlockingCheck(ApiAnswer):
    blocker: str
    blocked: str
    is_blocked: bool


class Unblocked(ApiAnswer):
    success: bool
    unblocked: BlockingRemoved


class BlockingsDeleted(ApiAnswer):
    success: bool


@router.post("/blocking", status_code=201, response_model=BlockingMade)
async def post(body: NewBlocking, db: Db) -> Response:
    """`blocked_agent` waits for `blocked_by`. A wait that would close a circle is refused; the
    error shows the circle."""
    now = row_times.now_ms()
    row = await db.write(
        lambda c: blocking.add(c, body.blocked_by, body.blocked_agent, body.reason, now)
    )
    made = {**removed_answer(row), "created_at": row_times.to_iso(row["created_ms"])}
    return respond({"success": True, "blocking": made}, 201)


@router.get("/blocking", response_model=BlockingList)
async def listed(db: Db, project_id: IdQuery = None) -> Response:
    """All waiting agents, the longest wait first; at most 1,000."""
    found = await db.read(lambda c: blocking.list_all(c, project_id))
    shown = [{**removed_answer(row), "since": row_times.to_iso(row["created_ms"])} for row in found]
    return respond({"blockings": shown, "count": len(shown)})


@router.get("/blocking/check", response_model=BlockingCheck)
async def check(db: Db, blocker: Agent, blocked: Agent) -> Response:
    """Whether `blocked` waits directly for `blocker`."""
    found = await db.read(lambda c: blocking.is_blocked(c, blocker, blocked))
    return respond({"blocker": blocker, "blocked": blocked, "is_blocked": found})


@router.get("/blocking/{agent_id:text}", response_model=BlockingStatus)
async def standing(agent_id: AgentPath, db: Db) -> Response:
    """The agents that an agent waits for, and those that wait for it."""
    found = await db.read(lambda c: blocking.find_blockings(c, agent_id))
    waits_for, holds_up = found.waits_for, found.holds_up
    return respond(
        {
            "agent_id": agent_id,
            "is_blocked": bool(waits_for),
            "blocked_by": [_related(row, "by_agent", "blocked_by") for row in waits_for],
            "is_blocking": bool(holds_up),
            "blocking": [_related(row, "blocked_agent", "blocked_agent") for row in holds_up],
            "summary": {"blocked_by_count": len(waits_for), "blocking_count": len(holds_up)},
        }
    )


@router.post("/unblock", response_model=Unblocked, responses=NOT_FOUND)
async def unblock(body: BlockingPair, db: Db) -> Response:
    row = await db.write(lambda c: blocking.remove(c, body.blocked_by, body.blocked_agent))
    return respond({"success": True, "unblocked": removed_answer(row)})


@router.delete("/blocking/{blocking_id}", response_model=BlockingsDeleted, responses=NOT_FOUND)
async def remove(blocking_id: IdPath, db: Db) -> Response:
    await db.write(lambda c: blocking.remove_by_id(c, str(blocking_id)))
    return respond({"success": True})


def removed_answer(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "blocked_by", "blocked_agent", "reason")}


def _related(row: Row, name: str, column: str) -> dict[str, Any]:
    since = row_times.to_iso(row["created_ms"])
    return {"id": row["id"], name: row[column], "reason": row["reason"], "since": since}

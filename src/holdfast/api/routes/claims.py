"""`/api/claims`: one agent owns a piece of work for a while. Not part of the older interface."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import AfterValidator, Field

from holdfast.api.database import Db
from holdfast.api.fields import MOST_ID, AgentName, Body, Id, Offset, clean
from holdfast.api.responses import (
    NOT_FOUND,
    ApiAnswer,
    ErrorAnswer,
    Paged,
    Router,
    RowAnswer,
    paging,
    respond,
)
from holdfast.hub import row_times
from holdfast.hub.board import claims

router = Router(prefix="/api/claims", tags=["claims"])
Work = Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(clean)]
Limit = Annotated[int, Query(ge=1, le=1000)]


class NewClaim(Body):
    project_id: Id
    work: Work = Field(description="what is claimed, in words both sides use: `tests/login`")
    agent_id: AgentName
    ttl_seconds: int = Field(claims.USUAL_TTL_SECONDS, ge=1, le=claims.MOST_TTL_SECONDS)


class ClaimedPath(RowAnswer):
    project_id: str
    work: str
    agent_id: str
    claimed_at: str
    expires_at: str


class ClaimMade(ApiAnswer):
    success: bool
    claim: ClaimedPath


class ClaimsReleased(ApiAnswer):
    success: bool
    released: ClaimedPath


class ClaimList(Paged):
    claims: list[ClaimedPath]


class ClaimHolder(ErrorAnswer):
    """The agent that has the claim, and until when."""

    id: str
    agent_id: str | None = None
    claimed_at: str | None = None
    expires_at: str | None = None


HELD: dict[int | str, dict[str, Any]] = {
    409: {"model": ClaimHolder, "description": "Another has it"}
}


@router.post("", status_code=201, response_model=ClaimMade, responses={**NOT_FOUND, **HELD})
async def take(body: NewClaim, db: Db) -> Response:
    """Take a claim, or renew your own. Any agent may take an expired claim."""
    now, project_id = row_times.now_ms(), str(body.project_id)
    row = await db.write(
        lambda c: claims.take(c, project_id, body.work, body.agent_id, now, body.ttl_seconds)
    )
    return respond({"success": True, "claim": ClaimedPath.of(row)}, 201)


@router.delete("", response_model=ClaimsReleased, responses={**NOT_FOUND, **HELD})
async def release(
    db: Db,
    project_id: Annotated[Id, Query()],
    work: Annotated[Work, Query()],
    agent_id: Annotated[AgentName, Query()],
) -> Response:
    """Release a claim. Only the agent that has it may do so."""
    now = row_times.now_ms()
    row = await db.write(lambda c: claims.release(c, str(project_id), work, agent_id, now))
    return respond({"success": True, "released": ClaimedPath.of(row)})


@router.get("", response_model=ClaimList)
async def listed(
    db: Db,
    project_id: Annotated[Id | None, Query()] = None,
    agent_id: Annotated[AgentName | None, Query()] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Claims that have not expired, soonest to expire first."""
    now, place = row_times.now_ms(), None if project_id is None else str(project_id)
    page = await db.read(
        lambda c: claims.list_page(c, limit, offset, now, project_id=place, agent_id=agent_id)
    )
    return respond({"claims": [ClaimedPath.of(row) for row in page.rows], **paging(page)})

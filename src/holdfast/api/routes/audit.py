"""`/api/audit`: what was done under pressure, for review; as a list, or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query, Response

from holdfast.api.database import Db
from holdfast.api.fields import Offset, WordQuery
from holdfast.api.responses import ApiAnswer, Paged, paging, said
from holdfast.api.router import Router
from holdfast.hub import row_times
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree import event_log

router = Router(prefix="/api/audit", tags=["audit"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class AuditEvent(ApiAnswer):
    id: str
    kind: str
    session_id: str | None
    agent_id: str | None
    at: str
    body: dict[str, Any]


class AuditEventList(Paged):
    events: list[AuditEvent]


class PressureDecision(ApiAnswer):
    """`zone`, `level` and `used_ratio` are those of the last alert before it; `question` is what
    the decision answers, `turn` the turn it was taken in, `by` the user or the model."""

    session_id: str
    agent_id: str | None
    at: str | None
    turn: int | None
    by: str | None
    question: str | None
    decision: str
    zone: str | None
    level: str | None
    used_ratio: float | None


class PressureDecisionList(Paged):
    decisions: list[PressureDecision]


@router.get("/decisions", response_model=PressureDecisionList)
async def decisions(
    db: Db, session_id: WordQuery = None, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """Decisions taken in an orange or red window, newest first, for review."""
    found = await db.read(lambda c: event_log.decisions(c, session_id))
    page = [_decision(one) for one in found[offset : offset + limit]]
    figures = {"count": len(page), "total": len(found), "limit": limit, "offset": offset}
    return said({"decisions": page, **figures})


@router.get(
    "", response_model=AuditEventList, responses={200: {"content": {"application/x-ndjson": {}}}}
)
async def listed(
    db: Db,
    session_id: WordQuery = None,
    kind: WordQuery = None,
    format: Literal["json", "jsonl"] = "json",  # noqa: A002 (the name in the address)
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first; `format=jsonl` gives one event a line."""
    page = await db.read(
        lambda c: event_log.listed(c, limit, offset, session_id=session_id, kind=kind)
    )
    if format == "jsonl":
        return Response(b"".join(_lines(page)), media_type="application/x-ndjson")
    return said({"events": [shown(row) for row in page.rows], **paging(page)})


def _lines(page: Page) -> Iterator[bytes]:
    for row in page.rows:
        yield msgspec.json.encode(shown(row)) + b"\n"


def _decision(one: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in one.items() if name != "at_ms"}
    return {**rest, "at": row_times.written(one["at_ms"])}


def shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "session_id": row["session_id"],
        "agent_id": row["agent_id"],
        "at": row_times.written(row["at_ms"]),
        "body": row["body"] or {},
    }

"""`/api/audit`: what was done under pressure, for review; as a list, or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query, Response

from holdfast.api.answers import Answer, Paged, paging, said
from holdfast.api.database import Db
from holdfast.api.fields import Offset, WordQuery
from holdfast.api.routing import Router
from holdfast.store.page import Page, Row
from holdfast.work import audit, moment

router = Router(prefix="/api/audit", tags=["audit"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class AuditEvent(Answer):
    id: str
    kind: str
    session_id: str | None
    agent_id: str | None
    at: str
    body: dict[str, Any]


class Listed(Paged):
    events: list[AuditEvent]


@router.get("", response_model=Listed, responses={200: {"content": {"application/x-ndjson": {}}}})
async def listed(
    db: Db,
    session_id: WordQuery = None,
    kind: WordQuery = None,
    format: Literal["json", "jsonl"] = "json",  # noqa: A002 (the name in the address)
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first; `format=jsonl` gives one event a line."""
    page = await db.read(lambda c: audit.listed(c, limit, offset, session_id=session_id, kind=kind))
    if format == "jsonl":
        return Response(b"".join(_lines(page)), media_type="application/x-ndjson")
    return said({"events": [shown(row) for row in page.rows], **paging(page)})


def _lines(page: Page) -> Iterator[bytes]:
    for row in page.rows:
        yield msgspec.json.encode(shown(row)) + b"\n"


def shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "session_id": row["session_id"],
        "agent_id": row["agent_id"],
        "at": moment.written(row["at_ms"]),
        "body": row["body"] or {},
    }

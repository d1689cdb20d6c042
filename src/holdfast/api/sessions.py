"""`/api/sessions`. Sessions are answered bare, without a wrapper, as existing clients expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.api.answers import CONFLICT, NOT_FOUND, Answer, Paged, nothing, paging, said
from holdfast.api.database import Db
from holdfast.api.fields import Body, Id, Natural, Offset, SessionPath, TimeMs, Word
from holdfast.store.page import Row
from holdfast.work import moment, sessions

router = APIRouter(prefix="/api/sessions", tags=["sessions"])
Limit = Annotated[int, Query(ge=1, le=100)]
COLUMNS = {"started_at": "started_ms", "ended_at": "ended_ms"}


class Change(Body):
    ended_at: TimeMs | None = None
    total_tools_used: Natural | None = None
    total_success: Natural | None = None
    total_errors: Natural | None = None


class NewSession(Change):
    id: Word
    project_id: Id | None = None
    started_at: TimeMs | None = None


class Session(Answer):
    id: str
    project_id: str | None
    started_at: str
    ended_at: str | None
    total_tools_used: int
    total_success: int
    total_errors: int


class Listed(Paged):
    sessions: list[Session]


@router.post("", status_code=201, response_model=Session, responses={**NOT_FOUND, **CONFLICT})
async def post(body: NewSession, db: Db) -> Response:
    """A new session; one that is there already is a conflict."""
    now, row = moment.now_ms(), columns(body.model_dump(exclude_none=True))
    return said(shown(await db.write(lambda c: sessions.add(c, row, now))), 201)


@router.get("", response_model=Listed)
async def listed(
    db: Db,
    project_id: Annotated[Id | None, Query()] = None,
    active_only: bool = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Newest first; active ones have not ended, or less than half an hour ago."""
    now = moment.now_ms()
    page = await db.read(
        lambda c: sessions.listed(
            c, limit, offset, now_ms=now, project_id=_text(project_id), active_only=active_only
        )
    )
    return said({"sessions": [shown(row) for row in page.rows], **paging(page)})


@router.patch("/{session_id}", response_model=Session, responses=NOT_FOUND)
async def patch(session_id: SessionPath, body: Change, db: Db) -> Response:
    """End it, re-open it (`ended_at: null`), or set its totals."""
    changes = columns(body.model_dump(exclude_unset=True))
    given = {name: value for name, value in changes.items() if _may_set(name, value)}
    return said(shown(await db.write(lambda c: sessions.change(c, session_id, given))))


@router.delete("/{session_id}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(session_id: SessionPath, db: Db) -> Response:
    await db.write(lambda c: sessions.remove(c, session_id))
    return nothing()


def columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {COLUMNS.get(name, name): value for name, value in values.items()}


def _may_set(name: str, value: Any) -> bool:
    return value is not None or name == "ended_ms"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "project_id": row["project_id"],
        "started_at": moment.written(row["started_ms"]),
        "ended_at": moment.written(row["ended_ms"]),
        "total_tools_used": row["total_tools_used"],
        "total_success": row["total_success"],
        "total_errors": row["total_errors"],
    }

"""`/api/waves`: the stages of a session's tasks."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from holdfast.api.database import Db
from holdfast.api.errors import Slip
from holdfast.api.fields import Limit, Offset, SessionPath
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, paging, said
from holdfast.api.router import Router
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import waves

router = Router(prefix="/api/waves", tags=["waves"])


class WaveRow(ApiAnswer):
    id: str
    session_id: str
    wave_number: int
    status: str
    total_tasks: int
    completed_tasks: int
    failed_tasks: int
    started_at: str | None
    completed_at: str | None


class CurrentWave(ApiAnswer):
    wave: WaveRow


class WaveHistory(Paged):
    waves: list[WaveRow]


@router.get("/{session_id}/current", response_model=CurrentWave, responses=NOT_FOUND)
async def current(session_id: SessionPath, db: Db) -> Response:
    """The lowest wave that is not settled."""
    row = await db.read(lambda c: waves.current(c, session_id))
    if row is None:
        return said(Slip(error="No active wave found for session").model_dump(), 404)
    return said({"wave": shown(row)})


@router.get("/{session_id}/history", response_model=WaveHistory)
async def history(
    session_id: SessionPath, db: Db, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """All waves of the session, in their order."""
    page = await db.read(lambda c: waves.history(c, session_id, limit, offset))
    return said({"waves": [shown(row) for row in page.rows], **paging(page)})


def shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "session_id": row["session_id"],
        "wave_number": row["wave_number"],
        "status": row["status"],
        "total_tasks": row["total_tasks"],
        "completed_tasks": row["completed_tasks"],
        "failed_tasks": row["failed_tasks"],
        "started_at": row_times.written(row["started_ms"]),
        "completed_at": row_times.written(row["completed_ms"]),
    }

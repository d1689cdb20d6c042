"""`/api/requests`."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    Body,
    Id,
    IdPath,
    IdQuery,
    Limit,
    Object,
    Offset,
    Word,
    WordQuery,
    Words,
)
from holdfast.api.responses import (
    NOT_FOUND,
    ApiAnswer,
    Paged,
    Router,
    RowAnswer,
    no_content,
    paging,
    respond,
)
from holdfast.api.routes import tasks
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import requests
from holdfast.hub.tree.statuses import RequestStatus

router = Router(prefix="/api/requests", tags=["requests"])
PromptType = Literal["feature", "debug", "explain", "search", "refactor", "test", "review", "other"]


class RequestChange(Body):
    status: RequestStatus | None = None
    metadata: Object | None = None


class NewRequest(RequestChange):
    project_id: Id
    session_id: Word
    prompt: Words
    prompt_type: PromptType | None = None


class RequestRow(RowAnswer):
    id: str
    project_id: str
    session_id: str
    prompt: str
    prompt_type: str
    status: str
    created_at: str
    completed_at: str | None
    metadata: dict[str, Any]


class RequestWithTasks(RequestRow):
    tasks: list[tasks.TaskRow]


class RequestMade(ApiAnswer):
    success: bool
    request: RequestRow


class RequestFound(ApiAnswer):
    request: RequestWithTasks


class RequestList(Paged):
    requests: list[RequestRow]


@router.post("", status_code=201, response_model=RequestMade, responses=NOT_FOUND)
async def post(body: NewRequest, db: Db) -> Response:
    """Add a request of the user. The session is created if it is new."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: requests.add(c, given, now))
    return respond({"success": True, "request": RequestRow.of(row)}, 201)


@router.get("", response_model=RequestList)
async def listed(
    db: Db,
    project_id: IdQuery = None,
    session_id: WordQuery = None,
    status: RequestStatus | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first."""
    wanted = {"project_id": project_id, "session_id": session_id, "status": status}
    page = await db.read(lambda c: requests.list_page(c, limit, offset, **wanted))
    return respond({"requests": [RequestRow.of(row) for row in page.rows], **paging(page)})


@router.get("/{request_id}", response_model=RequestFound, responses=NOT_FOUND)
async def get(request_id: IdPath, db: Db) -> Response:
    """The request with its tasks, by wave."""

    def both(connection: Connection) -> tuple[Row, list[Row]]:
        row = requests.get(connection, str(request_id))
        return row, requests.tasks_of(connection, row["id"])

    row, below = await db.read(both)
    whole = {**RequestRow.of(row), "tasks": [tasks.TaskRow.of(task) for task in below]}
    return respond({"request": whole})


@router.patch("/{request_id}", response_model=RequestMade, responses=NOT_FOUND)
async def patch(request_id: IdPath, body: RequestChange, db: Db) -> Response:
    """Change the status, or add metadata. The time of completion is recorded."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: requests.change(c, str(request_id), given, now))
    return respond({"success": True, "request": RequestRow.of(row)})


@router.delete("/{request_id}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(request_id: IdPath, db: Db) -> Response:
    """Delete the request with its tasks and everything below them."""
    now = row_times.now_ms()
    await db.write(lambda c: requests.remove(c, str(request_id), now))
    return no_content()

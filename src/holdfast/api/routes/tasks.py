"""`/api/tasks`, and `/api/waves`: the stages of a session's tasks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Response
from pydantic import Field
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    Body,
    Id,
    IdPath,
    IdQuery,
    Limit,
    Offset,
    SessionPath,
    WordQuery,
    Words,
)
from holdfast.api.responses import (
    NOT_FOUND,
    ApiAnswer,
    ErrorAnswer,
    Paged,
    Router,
    RowAnswer,
    no_content,
    paging,
    respond,
)
from holdfast.api.routes import subtasks
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import tasks, waves
from holdfast.hub.tree.statuses import WorkStatus

router = Router(prefix="/api/tasks", tags=["tasks"])
WaveNumber = Annotated[int, Field(ge=0, le=1_000_000)]


class TaskChange(Body):
    name: Words | None = None
    wave_number: WaveNumber | None = None
    status: WorkStatus | None = None


class NewTask(TaskChange):
    request_id: Id


class TaskRow(RowAnswer):
    id: str
    request_id: str
    name: str
    wave_number: int
    status: str
    created_at: str
    completed_at: str | None


class TaskWithSubtasks(TaskRow):
    subtasks: list[subtasks.SubtaskRow]


class TaskMade(ApiAnswer):
    success: bool
    task: TaskRow


class TaskFound(ApiAnswer):
    task: TaskWithSubtasks


class TaskList(Paged):
    tasks: list[TaskRow]


@router.post("", status_code=201, response_model=TaskMade, responses=NOT_FOUND)
async def post(body: NewTask, db: Db) -> Response:
    """Add a task, in the wave after the last of its request unless `wave_number` is given."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: tasks.add(c, given, now))
    return respond({"success": True, "task": TaskRow.of(row)}, 201)


@router.get("", response_model=TaskList)
async def listed(
    db: Db,
    request_id: IdQuery = None,
    status: WorkStatus | None = None,
    session_id: WordQuery = None,
    project_id: IdQuery = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first; by wave within one request."""
    wanted = {
        "request_id": request_id,
        "status": status,
        "session_id": session_id,
        "project_id": project_id,
    }
    page = await db.read(lambda c: tasks.list_page(c, limit, offset, **wanted))
    return respond({"tasks": TaskRow.of_each(page.rows), **paging(page)})


@router.get("/{task_id}", response_model=TaskFound, responses=NOT_FOUND)
async def get(task_id: IdPath, db: Db) -> Response:
    """The task with its subtasks, oldest first."""

    def both(connection: Connection) -> tuple[Row, list[Row]]:
        row = tasks.get(connection, str(task_id))
        return row, tasks.subtasks_of(connection, row["id"])

    row, below = await db.read(both)
    whole = {**TaskRow.of(row), "subtasks": subtasks.SubtaskRow.of_each(below)}
    return respond({"task": whole})


@router.patch("/{task_id}", response_model=TaskMade, responses=NOT_FOUND)
async def patch(task_id: IdPath, body: TaskChange, db: Db) -> Response:
    """Change a task. Completing the last task of a wave ends the wave, and the next one starts."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: tasks.change(c, str(task_id), given, now))
    return respond({"success": True, "task": TaskRow.of(row)})


@router.delete("/{task_id}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(task_id: IdPath, db: Db) -> Response:
    """Delete the task with its subtasks and their actions."""
    now = row_times.now_ms()
    await db.write(lambda c: tasks.remove(c, str(task_id), now))
    return no_content()


wave_router = Router(prefix="/api/waves", tags=["waves"])


class WaveRow(RowAnswer):
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


@wave_router.get("/{session_id}/current", response_model=CurrentWave, responses=NOT_FOUND)
async def current(session_id: SessionPath, db: Db) -> Response:
    """The lowest wave that has not ended."""
    row = await db.read(lambda c: waves.current(c, session_id))
    if row is None:
        return respond(ErrorAnswer(error="No active wave found for session").model_dump(), 404)
    return respond({"wave": WaveRow.of(row)})


@wave_router.get("/{session_id}/history", response_model=WaveHistory)
async def history(
    session_id: SessionPath, db: Db, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """All waves of the session, in order."""
    page = await db.read(lambda c: waves.history(c, session_id, limit, offset))
    return respond({"waves": WaveRow.of_each(page.rows), **paging(page)})

"""Routes of `/api/subtasks`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from fastapi import Response
from pydantic import Field
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    MOST_INT,
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
from holdfast.api.routes import actions
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import subtasks
from holdfast.hub.tree.statuses import WorkStatus

router = Router(prefix="/api/subtasks", tags=["subtasks"])
Blockers = Annotated[list[Id], Field(max_length=1_000)]


class SubtaskChange(Body):
    status: WorkStatus | None = None
    result: Object | None = None
    agent_id: Word | None = None
    parent_agent_id: Word | None = None
    blocked_by: Blockers | None = None


class NewSubtask(Body):
    task_id: Id
    description: Words
    agent_type: Word | None = None
    agent_id: Word | None = None
    parent_agent_id: Word | None = None
    max_turns: Annotated[int, Field(gt=0, le=MOST_INT)] | None = None
    status: WorkStatus | None = None
    blocked_by: Blockers | None = None
    context_snapshot: Object | None = None


class SessionSubtasks(Body):
    session_id: Word


class SubtaskRow(RowAnswer):
    RENAMED: ClassVar = {"task_list_id": "task_id"}

    id: str
    task_id: str
    task_list_id: str
    session_id: str
    agent_type: str | None
    agent_id: str | None
    parent_agent_id: str | None
    max_turns: int | None
    description: str
    status: str
    blocked_by: list[str]
    created_at: str
    started_at: str | None
    completed_at: str | None
    context_snapshot: dict[str, Any] | None
    result: dict[str, Any] | None


class SubtaskWithActions(SubtaskRow):
    actions: list[actions.Action]


class SubtaskMade(ApiAnswer):
    success: bool
    subtask: SubtaskRow


class SubtaskFound(ApiAnswer):
    subtask: SubtaskWithActions


class SubtaskList(Paged):
    subtasks: list[SubtaskRow]


class SubtaskClosed(ApiAnswer):
    closed: int
    session_id: str


@router.post("", status_code=201, response_model=SubtaskMade, responses=NOT_FOUND)
async def post(body: NewSubtask, db: Db) -> Response:
    """Add a subtask. With `agent_type` and `agent_id`, the agent is listed among the agent
    contexts until the subtask ends."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: subtasks.add(c, given, now))
    return respond({"success": True, "subtask": SubtaskRow.of(row)}, 201)


@router.post("/close-session", response_model=SubtaskClosed)
async def close_session(body: SessionSubtasks, db: Db) -> Response:
    """Mark running, paused and blocked subtasks of this session as failed, because the session
    ended."""
    now = row_times.now_ms()
    closed = await db.write(lambda c: subtasks.close_session(c, body.session_id, now))
    return respond({"closed": closed, "session_id": body.session_id})


@router.get("", response_model=SubtaskList)
async def listed(
    db: Db,
    task_id: IdQuery = None,
    session_id: WordQuery = None,
    status: WorkStatus | None = None,
    agent_type: WordQuery = None,
    agent_id: WordQuery = None,
    project_id: IdQuery = None,
    is_subagent: bool | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List subtasks, newest first; with `task_id`, oldest first."""
    page = await db.read(
        lambda c: subtasks.list_page(
            c,
            limit,
            offset,
            task_id=task_id,
            session_id=session_id,
            status=status,
            agent_type=agent_type,
            agent_id=agent_id,
            project_id=project_id,
            is_subagent=is_subagent,
        )
    )
    return respond({"subtasks": SubtaskRow.of_each(page.rows), **paging(page)})


@router.get("/{subtask_id}", response_model=SubtaskFound, responses=NOT_FOUND)
async def get(subtask_id: IdPath, db: Db) -> Response:
    """Return the subtask with its actions, oldest first."""

    def read_both(connection: Connection) -> tuple[Row, list[Row]]:
        row = subtasks.get(connection, str(subtask_id))
        return row, subtasks.actions_of(connection, row["id"])

    row, action_rows = await db.read(read_both)
    answers = [actions.answer_for(action) for action in action_rows]
    return respond({"subtask": {**SubtaskRow.of(row), "actions": answers}})


@router.patch("/{subtask_id}", response_model=SubtaskMade, responses=NOT_FOUND)
async def patch(subtask_id: IdPath, body: SubtaskChange, db: Db) -> Response:
    """Change a subtask. The first change to `running` records the start time; `completed` and
    `failed` record the end time."""
    now, given = row_times.now_ms(), body.model_dump(exclude_none=True)
    row = await db.write(lambda c: subtasks.change(c, str(subtask_id), given, now))
    return respond({"success": True, "subtask": SubtaskRow.of(row)})


@router.delete("/{subtask_id}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(subtask_id: IdPath, db: Db) -> Response:
    """Delete the subtask with its actions."""
    now = row_times.now_ms()
    await db.write(lambda c: subtasks.remove(c, str(subtask_id), now))
    return no_content()

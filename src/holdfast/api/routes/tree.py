"""The tree of work: `/api/projects`, `/api/requests`, `/api/tasks`, `/api/subtasks`, all of it in
`/api/hierarchy`; and `/api/waves`, the stages of a session's tasks.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query, Response
from pydantic import AfterValidator, Field
from sqlalchemy.engine import Connection

from holdfast.api import fields
from holdfast.api.responses import Noun, Paged, Router, answer, paging, respond, row_answer
from holdfast.api.routes.sessions import ActionRow
from holdfast.hub import ids, row_times
from holdfast.hub.errors import Refused
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree import sessions, waves, work
from holdfast.hub.tree.waves import RequestStatus, WorkStatus

router = Router(tags=["tree"])
PromptType = Literal["feature", "debug", "explain", "search", "refactor", "test", "review", "other"]
WaveNumber = Annotated[int, Field(ge=0, le=1_000_000)]
Blockers = Annotated[list[fields.Id], Field(max_length=1_000)]


ProjectRow = row_answer("Project", tables.projects)
RequestRow = row_answer("Request", tables.requests)
TaskRow = row_answer("Task", tables.tasks)
SubtaskRow = row_answer(
    "Subtask",
    tables.subtasks,
    "* task_list_id:str blocked_by:str[] context_snapshot:object? result:object?",
)


class NewProject(fields.Body):
    path: fields.FilePath
    name: fields.Text | None = None
    metadata: fields.Object | None = None


class RequestChange(fields.Body):
    status: RequestStatus | None = None
    metadata: fields.Object | None = None


class NewRequest(RequestChange):
    project_id: fields.Id
    session_id: fields.Word
    prompt: fields.Words
    prompt_type: PromptType | None = None


class TaskChange(fields.Body):
    name: fields.Words | None = None
    wave_number: WaveNumber | None = None
    status: WorkStatus | None = None


class NewTask(TaskChange):
    request_id: fields.Id


class SubtaskChange(fields.Body):
    status: WorkStatus | None = None
    result: fields.Object | None = None
    agent_id: fields.Word | None = None
    parent_agent_id: fields.Word | None = None
    blocked_by: Blockers | None = None


class NewSubtask(fields.Body):
    task_id: fields.Id
    description: fields.Words
    agent_type: fields.Word | None = None
    agent_id: fields.Word | None = None
    parent_agent_id: fields.Word | None = None
    max_turns: Annotated[int, Field(gt=0, le=fields.MOST_INT)] | None = None
    status: WorkStatus | None = None
    blocked_by: Blockers | None = None
    context_snapshot: fields.Object | None = None


ProjectStats = answer(
    "ProjectStats",
    "project_id:str project_name:str? path:str total_requests:int total_subtasks:int "
    "total_actions:int successful_actions:int avg_duration_ms:float? last_activity:str",
)


def _stats(figures: Row) -> dict[str, Any]:
    last_activity = row_times.to_iso(figures["last_activity_ms"])
    known = {**figures, "last_activity": last_activity}
    return {name: known[name] for name in ProjectStats.model_fields}


project = Noun(router, "/api/projects", "project", "projects", ProjectRow)
project.create(
    NewProject, sessions.put_project, "Create a project, or change the one at this path."
)
project.list(sessions.list_projects, "Newest first.")
BareProject = answer("ProjectFound", "project:Project", ProjectRow)


@router.reads("/api/projects/by-path", BareProject)
def by_path(
    connection: Connection,
    path: Annotated[str, Query(max_length=fields.MOST_TEXT), AfterValidator(fields.plain)] = "",
) -> Row:
    """The project at this path, both wrapped and bare, for two kinds of clients."""
    if not path:
        raise Refused("Missing query parameter: path", "path")
    row = ProjectRow.of(sessions.get_project(connection, ids.project_id(path)))
    return {**row, "project": row}


WithRequests = answer("ProjectWithRequests", "requests:Request[]", ProjectRow)
ProjectView = answer(
    "WholeProject", "project:ProjectWithRequests requests:Request[] stats:ProjectStats"
)


@router.reads("/api/projects/{project_id}", ProjectView)
def get_project(connection: Connection, project_id: fields.IdPath) -> Row:
    """The project with its figures and its last 50 requests, inside it and beside it."""
    row, figures = sessions.project_figures(connection, str(project_id))
    last = RequestRow.of_each(work.latest_requests(connection, 50, project_id=row["id"]))
    whole = {**ProjectRow.of(row), "requests": last}
    return {"project": whole, "requests": last, "stats": _stats(figures)}


project.remove(sessions.remove_project, "Delete the project and everything that belongs to it.")


request = Noun(router, "/api/requests", "request", "requests", RequestRow)
request.create(
    NewRequest, work.add_request, "Add a request of the user. The session is created if it is new."
)
request.list(
    work.list_requests,
    "Newest first.",
    project_id=fields.Id,
    session_id=fields.Name,
    status=RequestStatus,
)
words = "The request with its tasks, by wave."
request.get(work.get_request, work.tasks_of, "tasks", TaskRow, words)
request.change(
    RequestChange,
    work.change_request,
    "Change the status, or add metadata. The time of completion is recorded.",
)
request.remove(work.remove_request, "Delete the request with its tasks and everything below them.")


task = Noun(router, "/api/tasks", "task", "tasks", TaskRow)
task.create(
    NewTask,
    work.add_task,
    "Add a task, in the wave after the last of its request unless `wave_number` is given.",
)
task.list(
    work.list_tasks,
    "Newest first; by wave within one request.",
    request_id=fields.Id,
    status=WorkStatus,
    session_id=fields.Name,
    project_id=fields.Id,
)
words = "The task with its subtasks, oldest first."
task.get(work.get_task, work.subtasks_of, "subtasks", SubtaskRow, words)
task.change(
    TaskChange,
    work.change_task,
    "Change a task. Completing the last task of a wave ends the wave, and the next one starts.",
)
task.remove(work.remove_task, "Delete the task with its subtasks and their actions.")


subtask = Noun(router, "/api/subtasks", "subtask", "subtasks", SubtaskRow)
subtask.create(
    NewSubtask,
    work.add_subtask,
    "Add a subtask. With a type and an id, its agent is followed in `/api/agent-contexts`.",
)


class SessionSubtasks(fields.Body):
    session_id: fields.Word


Closed = answer("SubtasksClosed", "closed:int session_id:str")


@router.writes("POST", "/api/subtasks/close-session", Closed)
def close_session(connection: Connection, body: SessionSubtasks) -> Row:
    """Mark the unfinished subtasks of this session as failed, because the session ended."""
    closed = work.close_session(connection, body.session_id, row_times.now_ms())
    return {"closed": closed, "session_id": body.session_id}


subtask.list(
    work.list_subtasks,
    "List subtasks, newest first; with `task_id`, oldest first.",
    task_id=fields.Id,
    session_id=fields.Name,
    status=WorkStatus,
    agent_type=fields.Name,
    agent_id=fields.Name,
    project_id=fields.Id,
    is_subagent=bool,
)
words = "Return the subtask with its actions, oldest first."
subtask.get(work.get_subtask, work.actions_of, "actions", ActionRow, words)
subtask.change(
    SubtaskChange,
    work.change_subtask,
    "Change a subtask. The first change to `running` records the start time; `completed` and "
    "`failed` record the end time.",
)
subtask.remove(work.remove_subtask, "Delete the subtask with its actions.")

RequestTree = answer("HierarchyRequest", "tasks:TaskWithSubtasks[]", RequestRow)
ProjectTree = answer("HierarchyProject", "requests:HierarchyRequest[]", ProjectRow)


HierarchyCounts = answer(
    "HierarchyCounts",
    "requests:int tasks:int subtasks:int",
    doc="Totals of the project, not only of this page.",
)


Hierarchy = answer(
    "Hierarchy",
    "hierarchy:HierarchyProject project:Project requests:HierarchyRequest[] stats:ProjectStats "
    "counts:HierarchyCounts",
    Paged,
)


@router.reads("/api/hierarchy/{project_id}", Hierarchy)
def get_hierarchy(
    connection: Connection,
    project_id: fields.IdPath,
    limit: fields.Limit = 50,
    offset: fields.Offset = 0,
) -> Row:
    """A page of requests, newest first; in each its tasks by wave, with their subtasks. `count`,
    `total`, `limit` and `offset` count requests."""
    row, figures = sessions.project_figures(connection, str(project_id))
    page = work.tree_page(connection, row["id"], limit, offset, figures["total_requests"])
    below = msgspec.Raw(msgspec.json.encode([_branch(request) for request in page.rows]))
    shown = ProjectRow.of(row)
    return {
        "hierarchy": {**shown, "requests": below},
        "project": shown,
        "requests": below,
        "stats": _stats(figures),
        "counts": {name: figures[f"total_{name}"] for name in HierarchyCounts.model_fields},
        **paging(page),
    }


def _branch(row: Row) -> dict[str, Any]:
    below = [
        {**TaskRow.of(one), "subtasks": SubtaskRow.of_each(one["subtasks"])} for one in row["tasks"]
    ]
    return {**RequestRow.of(row), "tasks": below}


WaveRow = row_answer(
    "Wave",
    tables.tasks,
    "request_id wave_number status completed_at id:str session_id:str started_at:str? "
    "total_tasks:int completed_tasks:int failed_tasks:int",
)
CurrentWave = answer("CurrentWave", "wave:Wave")


@router.reads("/api/waves/{session_id}/current", CurrentWave)
def current_wave(connection: Connection, session_id: fields.SessionPath) -> Row | Response:
    """The lowest wave that has not ended, of the newest request that has one."""
    for row in waves.at_hand(waves.of_session(connection, session_id)):
        if row["status"] not in waves.ENDED:
            return {"wave": WaveRow.of(row)}
    return respond({"error": "No active wave found for session"}, 404)


WaveHistory = answer("WaveHistory", "waves:Wave[]", Paged)


@router.reads("/api/waves/{session_id}/history", WaveHistory)
def wave_history(
    connection: Connection,
    session_id: fields.SessionPath,
    limit: fields.Limit = 100,
    offset: fields.Offset = 0,
) -> Row:
    """All waves of the session, in order, request by request."""
    found = waves.of_session(connection, session_id)
    page = Page(found[offset : offset + limit], len(found), limit, offset)
    return {"waves": WaveRow.of_each(page.rows), **paging(page)}

"""`/api/projects`, and `/api/hierarchy`: a project as a tree."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Query, Response
from pydantic import AfterValidator
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    MOST_TEXT,
    Body,
    FilePath,
    IdPath,
    Limit,
    Object,
    Offset,
    Text,
    plain,
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
from holdfast.api.routes import requests, subtasks, tasks
from holdfast.hub import row_times
from holdfast.hub.errors import Refused
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import projects
from holdfast.hub.tree.requests import latest, tree_of_project

router = Router(prefix="/api/projects", tags=["projects"])


class NewProject(Body):
    path: FilePath
    name: Text | None = None
    metadata: Object | None = None


class ProjectRow(RowAnswer):
    id: str
    path: str
    name: str | None
    created_at: str
    updated_at: str
    metadata: dict[str, Any]


class ProjectMade(ApiAnswer):
    success: bool
    project: ProjectRow


class ProjectFound(ProjectRow):
    project: ProjectRow


class ProjectStats(RowAnswer):
    project_id: str
    project_name: str | None
    path: str
    total_requests: int
    total_subtasks: int
    total_actions: int
    successful_actions: int
    avg_duration_ms: float | None
    last_activity: str


class ProjectQuery(ProjectRow):
    requests: list[requests.RequestRow]


class WholeProject(ApiAnswer):
    project: ProjectQuery
    requests: list[requests.RequestRow]
    stats: ProjectStats


class ProjectList(Paged):
    projects: list[ProjectRow]


@router.post("", status_code=201, response_model=ProjectMade)
async def post(body: NewProject, db: Db) -> Response:
    """Create a project, or change the one at this path."""
    now = row_times.now_ms()
    row = await db.write(
        lambda c: projects.put(c, body.path, now, name=body.name, metadata=body.metadata)
    )
    return respond({"success": True, "project": ProjectRow.of(row)}, 201)


@router.get("", response_model=ProjectList)
async def listed(db: Db, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Newest first."""
    page = await db.read(lambda c: projects.list_page(c, limit, offset))
    return respond({"projects": [ProjectRow.of(row) for row in page.rows], **paging(page)})


@router.get("/by-path", response_model=ProjectFound, responses=NOT_FOUND)
async def by_path(
    db: Db, path: Annotated[str, Query(max_length=MOST_TEXT), AfterValidator(plain)] = ""
) -> Response:
    """The project at this path, both wrapped and bare, for two kinds of clients."""
    if not path:
        raise Refused("Missing query parameter: path", "path")
    row = ProjectRow.of(await db.read(lambda c: projects.by_path(c, path)))
    return respond({**row, "project": row})


@router.get("/{project_id}", response_model=WholeProject, responses=NOT_FOUND)
async def get(project_id: IdPath, db: Db) -> Response:
    """The project with its figures and its last 50 requests, which are both inside it and beside
    it."""

    def both(connection: Connection) -> tuple[Row, Row, list[Row]]:
        project, figures = projects.figures(connection, str(project_id))
        return project, figures, latest(connection, 50, project_id=project["id"])

    project, figures, request_rows = await db.read(both)
    last = [requests.RequestRow.of(row) for row in request_rows]
    return respond(
        {
            "project": {**ProjectRow.of(project), "requests": last},
            "requests": last,
            "stats": figures_answer(figures),
        }
    )


@router.delete("/{project_id}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(project_id: IdPath, db: Db) -> Response:
    """Delete the project and everything that belongs to it."""
    await db.write(lambda c: projects.remove(c, str(project_id)))
    return no_content()


def figures_answer(figures: Row) -> dict[str, Any]:
    return ProjectStats.of(figures, last_activity=row_times.to_iso(figures["last_activity_ms"]))


hierarchy_router = Router(prefix="/api/hierarchy", tags=["projects"])


class HierarchyRequest(requests.RequestRow):
    tasks: list[tasks.TaskWithSubtasks]


class HierarchyProject(ProjectRow):
    requests: list[HierarchyRequest]


class HierarchyCounts(ApiAnswer):
    """Totals of the project, not only of this page."""

    requests: int
    tasks: int
    subtasks: int


class Hierarchy(Paged):
    """`count`, `total`, `limit` and `offset` count requests."""

    hierarchy: HierarchyProject
    project: ProjectRow
    requests: list[HierarchyRequest]
    stats: ProjectStats
    counts: HierarchyCounts


@hierarchy_router.get("/{project_id}", response_model=Hierarchy, responses=NOT_FOUND, name="get")
async def get_hierarchy(
    project_id: IdPath, db: Db, limit: Limit = 50, offset: Offset = 0
) -> Response:
    """A page of requests, newest first; in each its tasks by wave, with their subtasks."""
    tree = await db.read(lambda c: tree_of_project(c, str(project_id), limit, offset))
    project = ProjectRow.of(tree.project)
    requests_json = msgspec.Raw(msgspec.json.encode([_tree_of(row) for row in tree.requests.rows]))
    figures = tree.figures
    return respond(
        {
            "hierarchy": {**project, "requests": requests_json},
            "project": project,
            "requests": requests_json,
            "stats": figures_answer(figures),
            "counts": {
                "requests": figures["total_requests"],
                "tasks": figures["total_tasks"],
                "subtasks": figures["total_subtasks"],
            },
            **paging(tree.requests),
        }
    )


def _tree_of(request: Row) -> dict[str, Any]:
    below = [
        {**tasks.TaskRow.of(task), "subtasks": subtasks.SubtaskRow.of_each(task["subtasks"])}
        for task in request["tasks"]
    ]
    return {**requests.RequestRow.of(request), "tasks": below}

"""`/api/hierarchy`: a project as a tree."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import Response

from holdfast.api.database import Db
from holdfast.api.fields import IdPath, Limit, Offset
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, paging, said
from holdfast.api.router import Router
from holdfast.api.routes import projects, requests, subtasks, tasks
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import hierarchy

router = Router(prefix="/api/hierarchy", tags=["projects"])


class HierarchyRequest(requests.RequestRow):
    tasks: list[tasks.TaskWithSubtasks]


class HierarchyProject(projects.ProjectRow):
    requests: list[HierarchyRequest]


class HierarchyCounts(ApiAnswer):
    """All there are in the project, on this page or not."""

    requests: int
    tasks: int
    subtasks: int


class Hierarchy(Paged):
    """`count`, `total`, `limit` and `offset` are those of the requests."""

    hierarchy: HierarchyProject
    project: projects.ProjectRow
    requests: list[HierarchyRequest]
    stats: projects.ProjectStats
    counts: HierarchyCounts


@router.get("/{project_id}", response_model=Hierarchy, responses=NOT_FOUND)
async def get(project_id: IdPath, db: Db, limit: Limit = 50, offset: Offset = 0) -> Response:
    """Requests newest first, a page of them; in each its tasks by wave, with their subtasks."""
    tree = await db.read(lambda c: hierarchy.of_project(c, str(project_id), limit, offset))
    project = projects.shown(tree.project)
    asked = msgspec.Raw(msgspec.json.encode([_grown(row) for row in tree.requests.rows]))
    figures = tree.figures
    return said(
        {
            "hierarchy": {**project, "requests": asked},
            "project": project,
            "requests": asked,
            "stats": projects.stats_shown(figures),
            "counts": {
                "requests": figures["total_requests"],
                "tasks": figures["total_tasks"],
                "subtasks": figures["total_subtasks"],
            },
            **paging(tree.requests),
        }
    )


def _grown(request: Row) -> dict[str, Any]:
    below = [
        {**tasks.shown(task), "subtasks": [subtasks.shown(row) for row in task["subtasks"]]}
        for task in request["tasks"]
    ]
    return {**requests.shown(request), "tasks": below}

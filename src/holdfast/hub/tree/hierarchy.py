"""A project as a tree: requests, their tasks, their subtasks. Three queries, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, rows
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import projects
from holdfast.hub.tree.requests import NEWEST_FIRST


@dataclass(frozen=True, slots=True)
class Tree:
    project: Row
    figures: Row
    requests: Page  # each with `tasks`, each of these with `subtasks`


def of_project(connection: Connection, project_id: str, limit: int, offset: int) -> Tree:
    """Requests newest first, tasks by wave, subtasks oldest first."""
    project, figures = projects.measured(connection, project_id)
    query = sa.select(requests).where(requests.c.project_id == project_id)
    asked = rows(connection, query.order_by(*NEWEST_FIRST).limit(limit).offset(offset))
    _grow(connection, asked)
    return Tree(project, figures, Page(asked, figures["total_requests"], limit, offset))


def _grow(connection: Connection, asked: list[Row]) -> None:
    by_id = {request["id"]: request for request in asked}
    for request in asked:
        request["tasks"] = []
    if not by_id:
        return
    query = (
        sa.select(tasks, subtasks)
        .select_from(tasks.outerjoin(subtasks))
        .where(tasks.c.request_id.in_(list(by_id)))
        .order_by(
            tasks.c.request_id,
            tasks.c.wave_number,
            tasks.c.created_ms,
            tasks.c.id,
            subtasks.c.created_ms,
            subtasks.c.id,
        )
    )
    names, more_names = tasks.c.keys(), subtasks.c.keys()
    task: Row = {"id": None}
    for found in connection.execute(query):
        if found[0] != task["id"]:
            task = dict(zip(names, found, strict=False))
            task["subtasks"] = []
            by_id[task["request_id"]]["tasks"].append(task)
        subtask = dict(zip(more_names, found[len(names) :], strict=True))
        if subtask["id"] is not None:
            task["subtasks"].append(subtask)

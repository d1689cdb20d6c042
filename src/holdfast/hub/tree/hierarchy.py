"""A project as a tree: requests, their tasks, their subtasks. Four queries, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, rows
from holdfast.hub.store.tables import requests, subtasks, tasks
from holdfast.hub.tree import projects
from holdfast.hub.tree.requests import NEWEST_FIRST

_IN_PAGE = tasks.c.request_id.in_(sa.bindparam("request_ids", expanding=True))
_TASKS = sa.select(tasks).where(_IN_PAGE)
_SUBTASKS = sa.select(subtasks).join_from(subtasks, tasks).where(_IN_PAGE)
_REQUESTS = (
    sa.select(requests)
    .where(requests.c.project_id == sa.bindparam("project_id"))
    .order_by(*NEWEST_FIRST)
    .limit(sa.bindparam("limit"))
    .offset(sa.bindparam("offset"))
)


@dataclass(frozen=True, slots=True)
class HierarchyTree:
    project: Row
    figures: Row
    requests: Page  # each with `tasks`, each of these with `subtasks`


def of_project(connection: Connection, project_id: str, limit: int, offset: int) -> HierarchyTree:
    """Requests newest first, tasks by wave, subtasks oldest first."""
    project, figures = projects.measured(connection, project_id)
    page = {"project_id": project_id, "limit": limit, "offset": offset}
    asked = rows(connection, _REQUESTS, page)
    _grow(connection, asked)
    return HierarchyTree(project, figures, Page(asked, figures["total_requests"], limit, offset))


def _grow(connection: Connection, asked: list[Row]) -> None:
    """Tasks and subtasks are sorted here: they come by index and in groups of a few, and the
    database would sort all of them by six columns."""
    if not asked:
        return
    wanted = {"request_ids": [request["id"] for request in asked]}
    below = _grouped(rows(connection, _SUBTASKS, wanted), "task_id")
    for found in below.values():
        found.sort(key=_by_age)
    stages = _grouped(rows(connection, _TASKS, wanted), "request_id")
    for found in stages.values():
        found.sort(key=_by_wave)
        for task in found:
            task["subtasks"] = below.get(task["id"], [])
    for request in asked:
        request["tasks"] = stages.get(request["id"], [])


def _grouped(found: list[Row], name: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row[name], []).append(row)
    return groups


def _by_age(row: Row) -> tuple[int, str]:
    return row["created_ms"], row["id"]


def _by_wave(row: Row) -> tuple[int, int, str]:
    return row["wave_number"], row["created_ms"], row["id"]

"""Requests and tasks. What was said later stands: an edit through the API is not undone by a deed
that happened before it."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import derived_ids
from holdfast.hub.ingest.records import Deed, RequestStands, RequestTold, SubtaskTold, TaskTold
from holdfast.hub.ingest.writers.row_cache import Shelf
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import requests, subtasks, tasks

DEFAULT_NAME = "Subagents"


class Tree:
    """The requests and tasks a batch speaks of."""

    def __init__(self, connection: Connection, deeds: Iterable[Deed]) -> None:
        told = list(deeds)
        self._connection = connection
        asked = {d.id for d in told if isinstance(d, RequestTold | RequestStands)}
        asked |= {d.request_id for d in told if isinstance(d, SubtaskTold | TaskTold)}
        self.requests = Shelf(connection, requests, asked)
        listed = {d.id for d in told if isinstance(d, TaskTold)}
        listed |= {d.task_id for d in told if isinstance(d, SubtaskTold)}
        listed |= {derived_ids.default_task_id(one) for one in asked if one}
        self.tasks = Shelf(connection, tasks, listed)
        self.removed = 0

    def apply(self, deed: Deed) -> None:
        if isinstance(deed, RequestTold):
            self._request(deed)
        elif isinstance(deed, RequestStands):
            self._stands(deed)
        elif isinstance(deed, TaskTold):
            self._task(deed)

    def _request(self, deed: RequestTold) -> None:
        row = self.requests.get(deed.id)
        if row is None:
            self._new_request(deed.id, deed.session_id, deed.project_id, deed.prompt, deed.at_ms)
        elif not row["prompt"]:  # so far only a subagent had told of it
            row |= {"prompt": deed.prompt, "created_ms": deed.at_ms}
            if task := self.tasks.get(derived_ids.default_task_id(deed.id)):
                task["created_ms"] = deed.at_ms

    def _new_request(
        self, row_id: str, session_id: str, project_id: str, prompt: str, at_ms: int
    ) -> Row:
        return self.requests.put(
            {
                "id": row_id,
                "project_id": project_id,
                "session_id": session_id,
                "prompt": prompt,
                "prompt_type": "other",
                "status": "active",
                "metadata": {},
                "created_ms": at_ms,
                "completed_ms": None,
            }
        )

    def _stands(self, deed: RequestStands) -> None:
        """Its default task stands as it does."""
        over = deed.status == "completed"
        task = self.tasks.get(derived_ids.default_task_id(deed.id))
        for row in (self.requests.get(deed.id), task):
            if row is not None and is_later(deed.at_ms, row):
                status = deed.status if row is not task or over else "running"
                row |= {"status": status, "completed_ms": deed.at_ms if over else None}

    def _task(self, deed: TaskTold) -> None:
        row = self.tasks.get(deed.id)
        if row is None:
            if deed.request_id and self.requests.get(deed.request_id):
                self._new_task(deed)
            return
        if deed.name:
            row["name"] = deed.name
        if deed.status == "deleted":
            self._delete(row)
        elif deed.status and deed.status != row["status"] and is_later(deed.at_ms, row):
            row["status"] = deed.status
            row["completed_ms"] = deed.at_ms if deed.status == "completed" else None

    def _new_task(self, deed: TaskTold) -> None:
        done = deed.status == "completed"
        self.tasks.put(
            {
                "id": deed.id,
                "request_id": deed.request_id,
                "name": deed.name or "Task",
                "wave_number": deed.wave_number,
                "status": deed.status or "pending",
                "created_ms": deed.at_ms,
                "completed_ms": deed.at_ms if done else None,
            }
        )

    def _delete(self, row: Row) -> None:
        """Taken off the list: gone, unless agents worked for it."""
        under = sa.select(subtasks.c.id).where(subtasks.c.task_id == row["id"]).limit(1)
        if self._connection.scalar(under) is not None:
            row["status"] = "completed"
        elif self.tasks.before(row["id"]) is None:
            self.tasks.drop(row["id"])
        else:
            self._connection.execute(sa.delete(tasks).where(tasks.c.id == row["id"]))
            self.tasks.drop(row["id"])
            self.removed += 1

    def task_for(self, deed: SubtaskTold) -> str:
        """The task a subagent belongs to, made where only its prompt is known."""
        if deed.task_id and self.tasks.get(deed.task_id):
            return deed.task_id
        if not deed.request_id:
            return ""
        asked = self.requests.get(deed.request_id) or self._new_request(
            deed.request_id, deed.session_id, deed.project_id, "", deed.at_ms
        )
        if not asked["prompt"]:
            asked["created_ms"] = min(asked["created_ms"], deed.at_ms)
        task_id = derived_ids.default_task_id(deed.request_id)
        over = asked["status"] == "completed"
        task = self.tasks.get(task_id) or self.tasks.put(
            {
                "id": task_id,
                "request_id": asked["id"],
                "name": DEFAULT_NAME,
                "wave_number": 0,
                "status": "completed" if over else "running",
                "completed_ms": asked["completed_ms"] if over else None,
            }
        )
        task["created_ms"] = asked["created_ms"]
        return task_id


def is_later(at_ms: int, row: Row) -> bool:
    """Nobody has ended it after that."""
    return row["completed_ms"] is None or at_ms > row["completed_ms"]

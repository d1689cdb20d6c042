"""Requests, tasks and subtasks. What was said later stands: an edit through the API is not undone
by a record of something that happened before it. A subtask started when it was last started and
ended when it was last ended, so it does not matter whether the hook or the transcript reports
first.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import (
    Deed,
    RequestStands,
    RequestTold,
    SessionMet,
    SubtaskTold,
    TaskTold,
)
from holdfast.hub.ingest.writers.row_cache import Shelf
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import actions, requests, sessions, subtasks, tasks

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
        listed |= {ids.default_task_id(one) for one in asked if one}
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
            if task := self.tasks.get(ids.default_task_id(deed.id)):
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
        task = self.tasks.get(ids.default_task_id(deed.id))
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
        task_id = ids.default_task_id(deed.request_id)
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


NOBODY = "agent"
CUT_OFF = "session_ended"


class Subtasks:
    def __init__(self, connection: Connection, deeds: Iterable[Deed], tree: Tree) -> None:
        told = [deed for deed in deeds if isinstance(deed, SubtaskTold)]
        self._connection, self._tree = connection, tree
        self.shelf = Shelf(connection, subtasks, (deed.id for deed in told))
        self._ends = [d.ended_ms for d in deeds if isinstance(d, SessionMet) and d.ended_ms]
        self._left: set[str] = set()  # tasks that lost one to another

    def apply(self, deed: SubtaskTold) -> None:
        row = self.shelf.get(deed.id)
        if row is None:
            task_id = self._tree.task_for(deed)
            if not task_id:
                return  # a change of one nobody has told of
            row = self.shelf.put(_new(deed, task_id))
        elif deed.task_id:
            self._move(row, deed)
        _describe(row, deed)
        _time(row, deed)

    def _move(self, row: Row, deed: SubtaskTold) -> None:
        """The transcript knows which task was under way; the hook only whose prompt it was."""
        task_id = self._tree.task_for(deed)
        if task_id and task_id != row["task_id"]:
            self._left.add(row["task_id"])
            row["task_id"] = task_id

    def cut_off(self, session_id: str) -> None:
        """What was under way when the session ended did not get done; ends in the order they were
        told, which is that of their times unless the clock was put back."""
        mine = sa.select(sessions.c.ended_ms).where(sessions.c.id == session_id)
        ends = [self._connection.scalar(mine) or 0, *self._ends]
        if self._ends:
            running = (subtasks.c.session_id == session_id) & (subtasks.c.status == "running")
            under_way = sa.select(subtasks.c.id).where(running)
            self.shelf.fetch(self._connection.execute(under_way).scalars())
        for row in self.shelf.rows.values():
            began = row["started_ms"] or row["created_ms"]
            end = next((one for one in ends if one and one >= began), 0)
            if end and row["status"] == "running":
                result = {**(row["result"] or {}), "reason": CUT_OFF}
                row |= {"status": "failed", "completed_ms": end, "result": result}

    def flush(self) -> tuple[list[Row], list[Row]]:
        added, changed = self.shelf.flush()
        for row in added:
            self._adopt(row)
        return added, changed

    def _adopt(self, row: Row) -> None:
        """What the agent did before anybody told of its subtask."""
        if row["agent_id"] is None:
            return
        mine = (actions.c.session_id == row["session_id"]) & (actions.c.agent_id == row["agent_id"])
        orphans = sa.update(actions).where(mine, actions.c.subtask_id.is_(None))
        self._connection.execute(orphans.values(subtask_id=row["id"]))

    def clear_left(self) -> tuple[int, int]:
        """Default tasks without a subtask, and requests nobody told of, are no more."""
        gone_tasks = gone_requests = 0
        for task_id in sorted(self._left):
            request_id = self._connection.scalar(
                sa.select(tasks.c.request_id).where(tasks.c.id == task_id)
            )
            if request_id is None or task_id != ids.default_task_id(request_id):
                continue
            under = sa.exists().where(subtasks.c.task_id == task_id)
            empty = sa.delete(tasks).where(tasks.c.id == task_id, ~under)
            gone_tasks += self._connection.execute(empty).rowcount
            under = sa.exists().where(tasks.c.request_id == request_id)
            untold = sa.delete(requests).where(requests.c.id == request_id, ~under)
            untold = untold.where(requests.c.prompt == "")
            gone_requests += self._connection.execute(untold).rowcount
        return gone_tasks, gone_requests


def _new(deed: SubtaskTold, task_id: str) -> Row:
    return {
        "id": deed.id,
        "task_id": task_id,
        "session_id": deed.session_id,
        "description": _unknown(deed.agent_type),
        "agent_type": deed.agent_type or None,
        "agent_id": deed.agent_id or None,
        "parent_agent_id": deed.parent_agent_id or None,
        "status": "pending",
        "max_turns": None,
        "blocked_by": [],
        "context_snapshot": None,
        "result": None,
        "created_ms": deed.at_ms,
        "started_ms": None,
        "completed_ms": None,
    }


def _unknown(agent_type: str | None) -> str:
    return f"({agent_type or NOBODY})"


def _describe(row: Row, deed: SubtaskTold) -> None:
    known = row["description"] not in (_unknown(None), _unknown(row["agent_type"]))
    row["agent_type"] = row["agent_type"] or deed.agent_type or None
    row["agent_id"] = row["agent_id"] or deed.agent_id or None
    row["parent_agent_id"] = row["parent_agent_id"] or deed.parent_agent_id or None
    if deed.described == 2 or (deed.described == 1 and not known):
        row["description"] = deed.description or row["description"]
    elif not known:
        row["description"] = _unknown(row["agent_type"])


def _time(row: Row, deed: SubtaskTold) -> None:
    row["created_ms"] = min(row["created_ms"], deed.at_ms)
    _uncut(row, deed)
    started, ended = row["started_ms"] or 0, row["completed_ms"] or 0
    if deed.started_ms > started:
        row["started_ms"] = started = deed.started_ms
        if started > ended:
            row["status"], row["completed_ms"], ended = "running", None, 0
    if deed.ended_ms > ended and deed.ended_ms >= started:
        row["status"], row["completed_ms"] = deed.outcome, deed.ended_ms


def _uncut(row: Row, deed: SubtaskTold) -> None:
    """Cut off by the session's end, until its own end is told, or that it went on later."""
    result = row["result"] or {}
    later = deed.started_ms > (row["completed_ms"] or 0)
    if result.get("reason") == CUT_OFF and (deed.ended_ms or later):
        rest = {name: value for name, value in result.items() if name != "reason"}
        row |= {"status": "running", "completed_ms": None, "result": rest or None}

"""Write requests, tasks, subtasks and tool calls.

The later change wins: a record of something that happened before an edit through the API does not
undo the edit. A subtask keeps its last start and its last end, so it does not matter whether the
hook or the transcript reports first. A tool call is one row, whoever reports it, and counts once in
the session's totals; those sent over HTTP are written by `tree/work`.
"""

from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import (
    UNKNOWN_AGENT,
    RecordedAction,
    RecordedEvent,
    RecordedRequest,
    RecordedRequestStatus,
    RecordedSession,
    RecordedSubtask,
    RecordedTask,
)
from holdfast.hub.store.rows import Row, RowCache, pick
from holdfast.hub.store.tables import actions, requests, sessions, subtasks, tasks
from holdfast.hub.tree.sessions import keywords

DEFAULT_NAME = "Subagents"


class Tree:
    """The requests and tasks that a batch mentions."""

    def __init__(self, connection: Connection, records: Iterable[RecordedEvent]) -> None:
        records = list(records)
        self._connection = connection
        request_ids = {
            d.id for d in records if isinstance(d, RecordedRequest | RecordedRequestStatus)
        }
        request_ids |= {
            d.request_id for d in records if isinstance(d, RecordedSubtask | RecordedTask)
        }
        self.requests = RowCache(connection, requests, request_ids)
        listed = {d.id for d in records if isinstance(d, RecordedTask)}
        listed |= {d.task_id for d in records if isinstance(d, RecordedSubtask)}
        listed |= {ids.default_task_id(request_id) for request_id in request_ids if request_id}
        self.tasks = RowCache(connection, tasks, listed)
        reported = (d.id for d in records if isinstance(d, RecordedSubtask))
        self.subtasks = RowCache(connection, subtasks, reported)

    def apply(self, record: RecordedEvent) -> None:
        if isinstance(record, RecordedRequest):
            self._request(record)
        elif isinstance(record, RecordedRequestStatus):
            self._set_status(record)
        elif isinstance(record, RecordedTask):
            self._task(record)

    def _request(self, record: RecordedRequest) -> None:
        row = self.requests.get(record.id)
        if row is None:
            row = self._new_request(record.id, record, record.prompt)
        elif not row["prompt"]:  # so far only a subagent had mentioned it
            row |= {"prompt": record.prompt, "created_ms": record.at_ms}
            if task := self.tasks.get(ids.default_task_id(record.id)):
                task["created_ms"] = record.at_ms
        if record.answers:
            row["metadata"] = {**(row["metadata"] or {}), "answers": record.answers}

    def _new_request(
        self, row_id: str, record: RecordedRequest | RecordedSubtask, prompt: str
    ) -> Row:
        return self.requests.put(
            {
                **pick(record, "project_id", "session_id"),
                "id": row_id,
                "prompt": prompt,
                "prompt_type": "other",
                "status": "active",
                "metadata": {},
                "created_ms": record.at_ms,
            }
        )

    def _set_status(self, record: RecordedRequestStatus) -> None:
        """Set the status of a request and of its default task."""
        over = record.status == "completed"
        task = self.tasks.get(ids.default_task_id(record.id))
        for row in (self.requests.get(record.id), task):
            if row is not None and is_later(record.at_ms, row):
                status = record.status if row is not task or over else "running"
                row |= {"status": status, "completed_ms": record.at_ms if over else None}

    def _task(self, record: RecordedTask) -> None:
        row = self.tasks.get(record.id)
        if row is None:
            if record.request_id and self.requests.get(record.request_id):
                self._new_task(record)
            return
        if record.name:
            row["name"] = record.name
        if record.status == "deleted":
            self._delete(row)
        elif record.status and record.status != row["status"] and is_later(record.at_ms, row):
            row["status"] = record.status
            row["completed_ms"] = record.at_ms if record.status == "completed" else None

    def _new_task(self, record: RecordedTask) -> None:
        done = record.status == "completed"
        self.tasks.put(
            {
                **pick(record, "id", "request_id", "wave_number"),
                "name": record.name or "Task",
                "status": record.status or "pending",
                "created_ms": record.at_ms,
                "completed_ms": record.at_ms if done else None,
            }
        )

    def _delete(self, row: Row) -> None:
        """Delete a task that was taken off the list, or complete it if agents worked on it."""
        if self._has_subtasks(row["id"]):
            row["status"] = "completed"
        else:
            self.tasks.drop(row["id"])

    def _has_subtasks(self, task_id: str) -> bool:
        """Whether subtasks of this batch, or stored ones that it does not mention, are under a
        task."""
        here = self.subtasks.rows
        if any(row["task_id"] == task_id for row in here.values()):
            return True
        stored = sa.select(subtasks.c.id).where(subtasks.c.task_id == task_id)
        return any(found not in here for found in self._connection.execute(stored).scalars())

    def task_for(self, record: RecordedSubtask) -> str:
        """Return the task of a subagent; create a default one if only its prompt is known."""
        if record.task_id and self.tasks.get(record.task_id):
            return record.task_id
        if not record.request_id:
            return ""
        request = self.requests.get(record.request_id)
        request = request or self._new_request(record.request_id, record, "")
        if not request["prompt"]:
            request["created_ms"] = min(request["created_ms"], record.at_ms)
        task_id = ids.default_task_id(record.request_id)
        over = request["status"] == "completed"
        task = self.tasks.get(task_id) or self.tasks.put(
            {
                "id": task_id,
                "request_id": request["id"],
                "name": DEFAULT_NAME,
                "wave_number": 0,
                "status": "completed" if over else "running",
                "completed_ms": request["completed_ms"] if over else None,
            }
        )
        task["created_ms"] = request["created_ms"]
        return task_id


def is_later(at_ms: int, row: Row) -> bool:
    """Return whether this time is after the row's end, if it has one."""
    return row["completed_ms"] is None or at_ms > row["completed_ms"]


CUT_OFF = "session_ended"


class Subtasks:
    def __init__(
        self, connection: Connection, records: Iterable[RecordedEvent], tree: Tree
    ) -> None:
        self._connection, self._tree = connection, tree
        self.cache = tree.subtasks
        self._ends = [d.ended_ms for d in records if isinstance(d, RecordedSession) and d.ended_ms]
        self._left: set[str] = set()  # tasks whose subtask moved to another task

    def apply(self, record: RecordedSubtask) -> None:
        row = self.cache.get(record.id)
        if row is None:
            task_id = self._tree.task_for(record)
            if not task_id:
                return  # a change of an unknown subtask
            row = self.cache.put(_new(record, task_id))
        elif record.task_id:
            self._move(row, record)
        _describe(row, record)
        _time(row, record)

    def _move(self, row: Row, record: RecordedSubtask) -> None:
        """Move a subtask: the transcript knows its task, the hook only its prompt."""
        task_id = self._tree.task_for(record)
        if task_id and task_id != row["task_id"]:
            self._left.add(row["task_id"])
            row["task_id"] = task_id

    def cut_off(self, session_id: str) -> None:
        """Fail the subtasks that were running when the session ended: the first end at or after a
        subtask's start counts, of the batch's ends and the session's last one."""
        if not self._ends and not self.cache.rows:
            return
        mine = sa.select(sessions.c.ended_ms).where(sessions.c.id == session_id)
        ends = [self._connection.scalar(mine) or 0, *self._ends]
        if self._ends:
            running = (subtasks.c.session_id == session_id) & (subtasks.c.status == "running")
            under_way = sa.select(subtasks.c.id).where(running)
            self.cache.fetch(self._connection.execute(under_way).scalars())
        for row in self.cache.rows.values():
            began = row["started_ms"] or row["created_ms"]
            end = next((ended for ended in ends if ended and ended >= began), 0)
            if end and row["status"] == "running":
                result = {**(row["result"] or {}), "reason": CUT_OFF}
                row |= {"status": "failed", "completed_ms": end, "result": result}

    def flush(self) -> tuple[list[Row], list[Row]]:
        added, changed = self.cache.flush()
        for row in added:
            self._adopt(row)
        return added, changed

    def _adopt(self, row: Row) -> None:
        """Link the agent's actions from before its subtask was known."""
        if row["agent_id"] is None:
            return
        mine = (actions.c.session_id == row["session_id"]) & (actions.c.agent_id == row["agent_id"])
        orphans = sa.update(actions).where(mine, actions.c.subtask_id.is_(None))
        self._connection.execute(orphans.values(subtask_id=row["id"]))

    def clear_left(self) -> bool:
        """Delete default tasks that lost their last subtask, and requests that have no prompt.
        Return whether a task went."""
        gone = 0
        for task_id in sorted(self._left):
            request_id = self._connection.scalar(
                sa.select(tasks.c.request_id).where(tasks.c.id == task_id)
            )
            if request_id is None or task_id != ids.default_task_id(request_id):
                continue
            under = sa.exists().where(subtasks.c.task_id == task_id)
            empty = sa.delete(tasks).where(tasks.c.id == task_id, ~under)
            gone += self._connection.execute(empty).rowcount
            under = sa.exists().where(tasks.c.request_id == request_id)
            no_prompt = sa.delete(requests).where(requests.c.id == request_id, ~under)
            self._connection.execute(no_prompt.where(requests.c.prompt == ""))
        return gone > 0


def _new(record: RecordedSubtask, task_id: str) -> Row:
    return {
        **pick(record, "id", "session_id"),
        "task_id": task_id,
        "description": _unknown(record.agent_type),
        "agent_type": record.agent_type or None,
        "agent_id": record.agent_id or None,
        "parent_agent_id": record.parent_agent_id or None,
        "status": "pending",
        "blocked_by": [],
        "created_ms": record.at_ms,
    }


def _unknown(agent_type: str | None) -> str:
    return f"({agent_type or UNKNOWN_AGENT})"


def _describe(row: Row, record: RecordedSubtask) -> None:
    known = row["description"] not in (_unknown(None), _unknown(row["agent_type"]))
    row["agent_type"] = row["agent_type"] or record.agent_type or None
    row["agent_id"] = row["agent_id"] or record.agent_id or None
    row["parent_agent_id"] = row["parent_agent_id"] or record.parent_agent_id or None
    if record.described == 2 or (record.described == 1 and not known):
        row["description"] = record.description or row["description"]
    elif not known:
        row["description"] = _unknown(row["agent_type"])


def _time(row: Row, record: RecordedSubtask) -> None:
    row["created_ms"] = min(row["created_ms"], record.at_ms)
    _undo_cut_off(row, record)
    started, ended = row["started_ms"] or 0, row["completed_ms"] or 0
    if record.started_ms > started:
        row["started_ms"] = started = record.started_ms
        if started > ended:
            row["status"], row["completed_ms"], ended = "running", None, 0
    if record.ended_ms > ended and record.ended_ms >= started:
        row["status"], row["completed_ms"] = record.outcome, record.ended_ms


def _undo_cut_off(row: Row, record: RecordedSubtask) -> None:
    """Undo a cut-off once the subtask's own end or a later start is reported."""
    result = row["result"] or {}
    later = record.started_ms > (row["completed_ms"] or 0)
    if result.get("reason") == CUT_OFF and (record.ended_ms or later):
        rest = {name: value for name, value in result.items() if name != "reason"}
        row |= {"status": "running", "completed_ms": None, "result": rest or None}


class Actions:
    """The actions of one batch: `apply` each record, then `flush`."""

    def __init__(self, connection: Connection, records: Iterable[RecordedEvent]) -> None:
        calls = [record for record in records if isinstance(record, RecordedAction)]
        self._connection = connection
        self._cache = RowCache(connection, actions, (record.id for record in calls))
        self._subtasks = self._known({(d.session_id, d.agent_id) for d in calls if d.agent_id})

    def _known(self, agents: set[tuple[str, str]]) -> set[str]:
        found = {ids.subtask_id(*agent) for agent in agents}
        if not found:
            return set()
        query = sa.select(subtasks.c.id).where(subtasks.c.id.in_(found))
        return set(self._connection.execute(query).scalars())

    def apply(self, record: RecordedAction) -> None:
        row = self._cache.get(record.id)
        if row is None:
            self._cache.put(self._new(record))
            return
        row["project_id"] = row["project_id"] or record.project_id
        if record.reported_by == "hook":
            if record.duration_ms is not None:
                row["duration_ms"] = record.duration_ms
        else:
            row |= _columns(record)
            if row["duration_ms"] is None:
                row["duration_ms"] = record.duration_ms

    def _new(self, record: RecordedAction) -> Row:
        subtask = ids.subtask_id(record.session_id, record.agent_id) if record.agent_id else ""
        return {
            **pick(record, "id", "session_id", "project_id"),
            "agent_id": record.agent_id or None,
            "subtask_id": subtask if subtask in self._subtasks else None,
            **_columns(record),
            "duration_ms": record.duration_ms,
        }

    def flush(self) -> tuple[list[Row], Counter[str], Counter[tuple[str, str, str]]]:
        """Write the rows; return those added, and the changes of the session's totals and of the
        counts by (session, agent, tool)."""
        totals: Counter[str] = Counter()
        tools: Counter[tuple[str, str, str]] = Counter()
        for row in (*self._cache.added, *self._cache.changed):
            before = self._cache.before(row["id"])
            for sign, version in ((1, row), (-1, before)):
                if version is not None:
                    _tally(totals, version, sign)
                    agent_id = version["agent_id"] or ""
                    tools[version["session_id"], agent_id, version["tool_name"]] += sign
        added, _ = self._cache.flush()
        return added, totals, tools


def _columns(record: RecordedAction) -> Row:
    return {
        **pick(record, "tool_name", "tool_type", "exit_code"),
        "input": record.input or None,
        "file_paths": list(record.file_paths),
        "created_ms": record.at_ms,
        "keywords": keywords(record.input, record.file_paths),
    }


def _tally(totals: Counter[str], row: Row, sign: int) -> None:
    totals["total_tools_used"] += sign
    totals["total_success" if row["exit_code"] == 0 else "total_errors"] += sign
    if row["duration_ms"] is not None:
        totals["total_duration_ms"] += sign * row["duration_ms"]
        totals["timed_actions"] += sign

"""How far work is: the statuses of requests, tasks and subtasks, and the waves of each request (its
tasks by their number), with the announcement of what changes.

A wave ends when all its tasks have: completed if every one is, else failed. It is blocked while all
its open tasks are. The wave after a completed one starts by itself; the first wave, and one after a
failure, start with their first task. All of it follows from the tasks, so nothing is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TypeAlias

import sqlalchemy as sa

from holdfast.hub import ids
from holdfast.hub.store.rows import Row, announce, rows
from holdfast.hub.store.tables import requests, subtasks, tasks

RequestStatus: TypeAlias = Literal[
    "active", "pending", "running", "paused", "blocked", "completed", "failed", "cancelled"
]
WorkStatus: TypeAlias = Literal["pending", "running", "paused", "blocked", "completed", "failed"]
ENDED = frozenset(("completed", "failed", "cancelled"))
WaveKey: TypeAlias = tuple[str, int]  # a request, and the number of the wave in it
UNDER_WAY = frozenset(("running", "paused", "blocked"))
OPEN = UNDER_WAY | {"pending"}
EVENTS = {"running": "wave.started", "completed": "wave.completed", "failed": "wave.failed"}
MOST_NAMED, NAME_CHARS = 4, 200
_LOCK = 0x401D


def times_after(status: str, now_ms: int, table: sa.Table, before: Row | None = None) -> Row:
    """Return the start time, which stays once it is known, and the end time, which is None again
    once work resumes; as far as the table has them."""
    before = before or {}
    began, ended = before.get("started_ms"), before.get("completed_ms")
    if status == "running" and began is None:
        began = now_ms
    if status not in ENDED:
        ended = None
    elif status != before.get("status") or ended is None:
        ended = now_ms
    times = {"status": status, "started_ms": began, "completed_ms": ended}
    return {name: value for name, value in times.items() if name in table.c}


def derive_status(task: str, below: Collection[str]) -> str:
    """Return the status of a task from the statuses of its subtasks: ended once all of them are
    (completed if every one is, else failed), blocked while all that are left are blocked,
    running once one has started."""
    left = set(below) - ENDED
    if below and not left:
        return _end_of(below)
    if not left or task == "paused":
        return task
    if left == {"blocked"}:
        return "blocked"
    has_begun = task in ENDED or left != set(below) or left & {"running", "paused"}
    return "running" if has_begun else task


def judge(stages: Mapping[WaveKey, Collection[Row]]) -> dict[WaveKey, str]:
    """Return the status of each wave, from its tasks. Waves of a request come in their order."""
    verdict: dict[WaveKey, str] = {}
    in_line: dict[str, bool] = {}  # requests whose waves so far are completed
    for (request, number), stage in stages.items():
        status = _status({row["status"] for row in stage}, in_line.get(request, False))
        in_line[request] = status == "completed" and in_line.get(request, True)
        verdict[request, number] = status
    return verdict


def _status(of_tasks: set[str], in_line: bool) -> str:
    left = of_tasks - ENDED
    if not left:
        return _end_of(of_tasks)
    if left == {"blocked"}:
        return "blocked"
    return "running" if in_line or left != of_tasks or "running" in left else "pending"


def _end_of(below: Collection[str]) -> str:
    return "completed" if set(below) == {"completed"} else "failed"


def shown(listed: Iterable[Row]) -> list[Row]:
    """Return the waves at hand of these tasks: how each stands, and the names of its tasks.
    `from_list`: nobody made the wave; it is the place of an item in the model's task list."""
    stages = _by_wave(listed)
    found: list[Row] = [
        {
            "request_id": wave[0],
            "wave_number": wave[1],
            "tasks": len(stages[wave]),
            "completed": _count(stages[wave], "completed"),
            "status": status,
            "names": [row["name"][:NAME_CHARS] for row in stages[wave][:MOST_NAMED]],
            "from_list": all(ids.is_reported(row["id"]) for row in stages[wave]),
        }
        for wave, status in judge(stages).items()
    ]
    return at_hand(found)


def at_hand(found: list[Row]) -> list[Row]:
    """Return the waves of the last request with a wave that is not over, else of the last one."""
    last = ([row for row in found if row["status"] not in ENDED] or found or [{}])[-1]
    return [row for row in found if row["request_id"] == last["request_id"]]


@contextmanager
def changing(connection: sa.Connection, session_id: str, project_id: str) -> Iterator[None]:
    """Change work of a session, and then what follows from it."""
    before = hold(connection, session_id)
    yield
    settle(connection, session_id, project_id, before)


def hold(connection: sa.Connection, session_id: str) -> dict[WaveKey, str]:
    """Lock the tasks of a session, and return how its waves stand: two transactions that end the
    last two tasks of a wave must not both read before the other writes. SQLite has only one writer
    anyway."""
    if connection.dialect.name == "postgresql":
        key = sa.func.pg_advisory_xact_lock(_LOCK, sa.func.hashtext(session_id))
        connection.execute(sa.select(key))
    return judge(_stages(connection, session_id))


def settle(
    connection: sa.Connection, session_id: str, project_id: str, before: Mapping[WaveKey, str]
) -> None:
    """After work changed, update what is above it, and announce the waves that changed."""
    place: Row = {"session_id": session_id, "project_id": project_id}
    for statement in _parent_updates(session_id):
        connection.execute(statement)
    for wave, status in judge(_stages(connection, session_id)).items():
        if status in EVENTS and before.get(wave) != status:
            body = {"wave_number": wave[1], "status": status}
            announce(connection, EVENTS[status], body, place)


def _parent_updates(session_id: str) -> Iterator[sa.Update]:
    """A task is not over while one of its subtasks runs, nor a request while one of its tasks does.
    Their end stays noted, and counts again once nothing runs below them."""
    here = requests.c.session_id == session_id
    in_session = tasks.c.request_id.in_(sa.select(requests.c.id).where(here))
    at_work = sa.exists().where(subtasks.c.task_id == tasks.c.id, subtasks.c.status == "running")
    below = sa.exists().where(tasks.c.request_id == requests.c.id, tasks.c.status == "running")
    for table, mine, runs, status in (
        (tasks, in_session, at_work, "running"),
        (requests, here, below, "active"),
    ):
        held = sa.update(table).where(mine, table.c.status == "completed", runs)
        over = (table.c.status == status) & table.c.completed_ms.is_not(None)
        yield held.values(status=status)
        yield sa.update(table).where(mine, over, ~runs).values(status="completed")


def of_session(connection: sa.Connection, session_id: str) -> list[Row]:
    """Return a session's waves, by request. One starts no earlier than the one before ended."""
    stages = _stages(connection, session_id)
    found: list[Row] = []
    ends: dict[str, int] = {}  # of the waves so far, by request
    for (request, number), status in judge(stages).items():
        stage = stages[request, number]
        began = max(min(row["created_ms"] for row in stage), ends.get(request, 0))
        if status in ENDED:
            ends[request] = max(began, *(row["completed_ms"] or row["created_ms"] for row in stage))
        has_begun = status not in ("pending", "blocked") or any(
            row["status"] in ENDED for row in stage
        )
        found.append(
            {
                "id": ids.make_id("wave", session_id, request, str(number)),
                "session_id": session_id,
                "request_id": request,
                "wave_number": number,
                "status": status,
                "started_ms": began if has_begun else None,
                "completed_ms": ends[request] if status in ENDED else None,
                "total_tasks": len(stage),
                "completed_tasks": _count(stage, "completed"),
                "failed_tasks": _count(stage, "failed"),
            }
        )
    return found


def _stages(connection: sa.Connection, session_id: str) -> dict[WaveKey, list[Row]]:
    """Return the tasks of a session by request and wave, those of the oldest request first."""
    names = ("request_id", "wave_number", "status", "created_ms", "completed_ms")
    query = sa.select(*(tasks.c[name] for name in names)).join_from(tasks, requests)
    query = query.where(requests.c.session_id == session_id)
    order = (requests.c.created_ms, requests.c.id, tasks.c.wave_number)
    return _by_wave(rows(connection, query.order_by(*order)))


def _by_wave(listed: Iterable[Row]) -> dict[WaveKey, list[Row]]:
    stages: dict[WaveKey, list[Row]] = {}
    for row in listed:
        stages.setdefault((row["request_id"], row["wave_number"]), []).append(row)
    return stages


def _count(stage: Iterable[Row], status: str) -> int:
    return sum(row["status"] == status for row in stage)

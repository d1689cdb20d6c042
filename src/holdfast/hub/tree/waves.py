"""The waves of a session: its tasks by their number, and the announcement of what changes.

A wave ends when all its tasks have: completed if every one is, else failed. It is blocked while all
its open tasks are. The wave after a completed one starts by itself; the first wave, and one after a
failure, start with their first task. All of it follows from the tasks, so nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import requests, subtasks, tasks

Tally: TypeAlias = Mapping[str, int]  # how many tasks have which status
SETTLED = frozenset(("completed", "failed"))
EVENTS = {"running": "wave.started", "completed": "wave.completed", "failed": "wave.failed"}
MOST_NAMED, NAME_CHARS = 4, 200
_LOCK = 0x401D


def judge(tallies: Mapping[int, Tally]) -> dict[int, str]:
    """Return the status of each wave, by its number."""
    verdict: dict[int, str] = {}
    for number in sorted(tallies):
        in_line = bool(verdict) and all(status == "completed" for status in verdict.values())
        verdict[number] = _status(tallies[number], in_line)
    return verdict


def _status(tally: Tally, in_line: bool) -> str:
    left = {status for status, n in tally.items() if n}
    if left <= {"completed"}:
        return "completed"
    if left <= SETTLED:
        return "failed"
    if left - SETTLED == {"blocked"}:
        return "blocked"
    return "running" if in_line or left & {"running", *SETTLED} else "pending"


def shown(listed: Iterable[Row]) -> list[Row]:
    """Return the waves of these tasks: how each stands, and the names of its tasks. `from_list`:
    nobody made the wave; it is the place of an item in the model's task list."""
    below: dict[int, list[Row]] = {}
    for row in listed:
        below.setdefault(row["wave_number"], []).append(row)
    tallies = {number: Counter(row["status"] for row in below[number]) for number in below}
    return [
        {
            "wave_number": number,
            "tasks": tallies[number].total(),
            "completed": tallies[number]["completed"],
            "status": status,
            "names": [row["name"][:NAME_CHARS] for row in below[number][:MOST_NAMED]],
            "from_list": all(ids.is_reported(row["id"]) for row in below[number]),
        }
        for number, status in judge(tallies).items()
    ]


@contextmanager
def changing(connection: Connection, session_id: str, project_id: str) -> Iterator[None]:
    """Change work of a session, and then what follows from it."""
    before = hold(connection, session_id)
    yield
    settle(connection, session_id, project_id, before)


def hold(connection: Connection, session_id: str) -> dict[int, str]:
    """Lock the tasks of a session, and return how its waves stand: two transactions that end the
    last two tasks of a wave must not both read before the other writes. SQLite has only one writer
    anyway."""
    if connection.dialect.name == "postgresql":
        key = sa.func.pg_advisory_xact_lock(_LOCK, sa.func.hashtext(session_id))
        connection.execute(sa.select(key))
    return judge(_tallies(connection, session_id))


def settle(
    connection: Connection, session_id: str, project_id: str, before: Mapping[int, str]
) -> None:
    """After work changed, update the tasks and requests above it, and announce the waves that
    started or ended since `hold`."""
    for statement in _PARENT_UPDATES:
        connection.execute(statement, {"of_session": session_id})
    for number, status in judge(_tallies(connection, session_id)).items():
        if status in EVENTS and before.get(number) != status:
            body = {"wave_number": number, "status": status}
            events.announce(
                connection, EVENTS[status], body, session_id=session_id, project_id=project_id
            )


def _parent_updates() -> list[sa.Update]:
    """A task is not over while one of its subtasks runs, nor a request while one of its tasks does.
    Their end stays noted, and counts again once nothing runs below them."""
    here = requests.c.session_id == sa.bindparam("of_session", type_=sa.Text)
    in_session = tasks.c.request_id.in_(sa.select(requests.c.id).where(here))
    at_work = sa.exists().where(subtasks.c.task_id == tasks.c.id, subtasks.c.status == "running")
    below = sa.exists().where(tasks.c.request_id == requests.c.id, tasks.c.status == "running")
    updates = []
    for table, mine, runs, status in (
        (tasks, in_session, at_work, "running"),
        (requests, here, below, "active"),
    ):
        held = sa.update(table).where(mine, table.c.status == "completed", runs)
        over = (table.c.status == status) & table.c.completed_ms.is_not(None)
        ended = sa.update(table).where(mine, over, ~runs)
        updates += [held.values(status=status), ended.values(status="completed")]
    return updates


_PARENT_UPDATES = _parent_updates()


def of_session(connection: Connection, session_id: str) -> list[Row]:
    """Return the waves of a session, in order. A wave starts with its first task, or when the one
    before ended if that is later."""
    groups: dict[int, list[Row]] = {}
    for row in connection.execute(_GROUPS, {"of_session": session_id}).mappings():
        groups.setdefault(row["wave_number"], []).append(dict(row))
    tallies = {n: {row["status"]: row["n"] for row in rows} for n, rows in groups.items()}
    found: list[Row] = []
    for number, status in judge(tallies).items():
        began = max(min(row["first_ms"] for row in groups[number]), _last_end(found))
        has_begun = status not in ("pending", "blocked") or not SETTLED.isdisjoint(tallies[number])
        ended = max(row["last_ms"] for row in groups[number])
        found.append(
            {
                "id": ids.make_id("wave", session_id, str(number)),
                "session_id": session_id,
                "wave_number": number,
                "status": status,
                "started_ms": began if has_begun else None,
                "completed_ms": max(ended, began) if status in SETTLED else None,
                "total_tasks": sum(tallies[number].values()),
                "completed_tasks": tallies[number].get("completed", 0),
                "failed_tasks": tallies[number].get("failed", 0),
            }
        )
    return found


def _last_end(rows: list[Row]) -> int:
    return max((row["completed_ms"] or 0 for row in rows), default=0)


def _tallies(connection: Connection, session_id: str) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for row in connection.execute(_GROUPS, {"of_session": session_id}):
        found.setdefault(row.wave_number, {})[row.status] = row.n
    return found


_GROUPS = (
    sa.select(
        tasks.c.wave_number,
        tasks.c.status,
        sa.func.count().label("n"),
        sa.func.min(tasks.c.created_ms).label("first_ms"),
        sa.func.max(sa.func.coalesce(tasks.c.completed_ms, tasks.c.created_ms)).label("last_ms"),
    )
    .join_from(tasks, requests)
    .where(requests.c.session_id == sa.bindparam("of_session", type_=sa.Text))
    .group_by(tasks.c.wave_number, tasks.c.status)
)

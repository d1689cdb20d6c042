"""The waves of a session as rows, which follow its tasks, and their announcement.

A wave ends when all its tasks have: completed if every one is, else failed. It is blocked while all
its open tasks are. The wave after a completed one starts by itself; the first wave, and one after a
failure, start with their first task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.store import events
from holdfast.hub.store.rows import Page, Row, fetch_page, rows, upsert
from holdfast.hub.store.tables import requests, subtasks, tasks, waves

Tally: TypeAlias = Mapping[str, int]  # how many tasks have which status
SETTLED = frozenset(("completed", "failed"))


@dataclass(frozen=True, slots=True)
class WaveState:
    number: int
    status: str
    started_ms: int | None = None
    completed_ms: int | None = None


def judge(tallies: Mapping[int, Tally]) -> dict[int, str]:
    """Return the status of each wave, by its number."""
    verdict: dict[int, str] = {}
    for number in sorted(tallies):
        in_line = bool(verdict) and all(status == "completed" for status in verdict.values())
        verdict[number] = _status(tallies[number], in_line)
    return verdict


def moves(
    kept: Mapping[int, WaveState], verdict: Mapping[int, str], now_ms: int
) -> list[WaveState]:
    """Return waves whose status has changed, with their new times; lowest number first."""
    return [
        _advance(kept.get(number), number, verdict[number], now_ms)
        for number in sorted(verdict)
        if number not in kept or kept[number].status != verdict[number]
    ]


def make_wave(number: int, status: str, span: tuple[int, int]) -> WaveState:
    """Return a wave with the times of its tasks."""
    if status in ("pending", "blocked"):
        return WaveState(number, status)
    return WaveState(number, status, span[0], span[1] if status in SETTLED else None)


def _status(tally: Tally, in_line: bool) -> str:
    left = {status for status, n in tally.items() if n}
    if left <= {"completed"}:
        return "completed"
    if left <= SETTLED:
        return "failed"
    if left - SETTLED == {"blocked"}:
        return "blocked"
    return "running" if in_line or left & {"running", *SETTLED} else "pending"


def _advance(before: WaveState | None, number: int, status: str, now_ms: int) -> WaveState:
    began = before.started_ms if before else None
    if status == "pending":
        return WaveState(number, status)
    if status == "blocked":
        return WaveState(number, status, began)
    return WaveState(
        number,
        status,
        now_ms if began is None else began,
        now_ms if status in SETTLED else None,
    )


_LOCK = 0x401D
MOST_NAMED, NAME_CHARS = 4, 200
EVENTS = {"running": "wave.started", "completed": "wave.completed", "failed": "wave.failed"}


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


def hold(connection: Connection, session_id: str) -> None:
    """Lock the tasks of a session: two transactions that end the last two tasks of a wave must
    not both read before the other writes. SQLite has only one writer anyway."""
    if connection.dialect.name == "postgresql":
        key = sa.func.pg_advisory_xact_lock(_LOCK, sa.func.hashtext(session_id))
        connection.execute(sa.select(key))


def settle(connection: Connection, session_id: str, project_id: str, now_ms: int | None) -> None:
    """Start or end waves after work changed; call `hold` first. Without a time, the times of
    the tasks are used, so the result does not depend on when they are reported."""
    for statement in _PARENT_UPDATES:
        connection.execute(statement, {"of_session": session_id})
    stored = rows(connection, _of(session_id))
    known = {row["wave_number"]: WaveState(*(row[name] for name in _STATE)) for row in stored}
    verdict = judge(_tallies(connection, session_id))
    gone = waves.c.wave_number.in_(known.keys() - verdict.keys())
    connection.execute(sa.delete(waves).where(waves.c.session_id == session_id, gone))
    changed = moves(known, verdict, now_ms or 0)
    if now_ms is None:
        spans = _spans(connection, session_id)
        timed = [make_wave(number, verdict[number], spans[number]) for number in verdict]
        changed = [wave for wave in timed if known.get(wave.number) != wave]
    for wave in changed:
        row = dict(zip(_STATE, astuple(wave), strict=True)) | {"session_id": session_id}
        connection.execute(upsert(connection, waves, ["session_id", "wave_number"], row))
        before = known.get(wave.number)
        if wave.status in EVENTS and (before is None or before.status != wave.status):
            shown = ("wave_number", "status")
            events.tell(connection, EVENTS[wave.status], row, *shown, project_id=project_id)


_STATE = ("wave_number", "status", "started_ms", "completed_ms")


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


def current(connection: Connection, session_id: str) -> Row | None:
    """Return the lowest wave that has not ended, or None."""
    unsettled = _of(session_id).where(waves.c.status.not_in(SETTLED)).limit(1)
    found = _with_counts(connection, session_id, rows(connection, unsettled))
    return found[0] if found else None


def history(connection: Connection, session_id: str, limit: int, offset: int) -> Page:
    """Return a page of a session's waves, in order."""
    page = fetch_page(connection, _of(session_id), limit, offset)
    return Page(_with_counts(connection, session_id, page.rows), page.total, limit, offset)


def _of(session_id: str) -> sa.Select[tuple[object, ...]]:
    query = sa.select(waves).where(waves.c.session_id == session_id)
    return query.order_by(waves.c.wave_number)


def _with_counts(connection: Connection, session_id: str, found: Sequence[Row]) -> list[Row]:
    """Add to each wave the number of its tasks, and how they ended."""
    tallies = _tallies(connection, session_id) if found else {}
    return [{**row, **_counts(session_id, row["wave_number"], tallies)} for row in found]


def _counts(session_id: str, number: int, tallies: Mapping[int, Tally]) -> Row:
    tally = tallies.get(number, {})
    return {
        "id": ids.make_id("wave", session_id, str(number)),
        "total_tasks": sum(tally.values()),
        "completed_tasks": tally.get("completed", 0),
        "failed_tasks": tally.get("failed", 0),
    }


def _tallies(connection: Connection, session_id: str) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for number, status, n in connection.execute(_TALLIES, {"session_id": session_id}):
        found.setdefault(number, {})[status] = n
    return found


_TALLIES = (
    sa.select(tasks.c.wave_number, tasks.c.status, sa.func.count())
    .join_from(tasks, requests)
    .where(requests.c.session_id == sa.bindparam("session_id", type_=sa.Text))
    .group_by(tasks.c.wave_number, tasks.c.status)
)


def _spans(connection: Connection, session_id: str) -> dict[int, tuple[int, int]]:
    """Return when the first task of each wave began and the last one ended."""
    ended = sa.func.coalesce(tasks.c.completed_ms, tasks.c.created_ms)
    columns = (tasks.c.wave_number, sa.func.min(tasks.c.created_ms), sa.func.max(ended))
    query = sa.select(*columns).join_from(tasks, requests)
    query = query.where(requests.c.session_id == session_id).group_by(tasks.c.wave_number)
    return {number: (first, last) for number, first, last in connection.execute(query)}

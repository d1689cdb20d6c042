"""How full windows are: as hooks read it now, and at each step; and when they were compacted. This
is what `/api/sessions/{id}/readings` draws, also days later.

A row holds the readings of 256 steps as lists of numbers, 24 bytes a reading on SQLite. Which row a
step belongs to follows from its number, so that a step reported twice is one reading. What is older
than 30 days goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.clean_text import clean_value
from holdfast.hub.ingest.records import TEXT_CHARS
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import compactions, projects, readings, sessions, subtasks, windows
from holdfast.hub.tree import sessions as known_sessions
from holdfast.text.sentences import clip
from holdfast.window import state as states
from holdfast.window.health import NOTHING, task_fits
from holdfast.window.live_windows import LIVE_MS, look
from holdfast.window.state import State
from holdfast.wire import places as window_places

ASKED_CHARS = 200
MOST_LIVE = 10_000
LATE_MS = 2_000  # a last call may be reported a moment after the end


def find(connection: Connection, agent_id: str) -> Row | None:
    """Find the newest window of this agent; for a session's id, its main window."""
    table = windows.c
    main = (table.session_id == agent_id) & (table.agent_id == "")
    mine, order = (table.agent_id == agent_id) | main, [table.updated_ms.desc()]
    found = db.fetch(connection, windows, mine, order=order, most=1)
    return next(iter(refresh_readings(found, row_times.now_ms())), None)


def live(connection: Connection, now_ms: int, project_id: str | None = None) -> list[Row]:
    """List windows active in the last half hour that have not ended, fullest first."""
    found = db.fetch(connection, windows, *_are_live(now_ms, project_id), most=MOST_LIVE)
    found = refresh_readings(found, now_ms)
    return sorted(found, key=used_ratio, reverse=True)


def count_live(connection: Connection, now_ms: int, project_id: str | None = None) -> int:
    """Count what `live` lists, without a look at any transcript."""
    query = sa.select(sa.func.count()).select_from(windows)
    return connection.scalar(query.where(*_are_live(now_ms, project_id))) or 0


def _are_live(now_ms: int, project_id: str | None) -> list[sa.ColumnElement[bool]]:
    mine = db.matching(windows, project_id=project_id)
    return [windows.c.updated_ms > now_ms - LIVE_MS, ~_is_over(), *mine]


def describe_windows(connection: Connection, found: Sequence[Row]) -> list[Row]:
    """Return what a list of windows shows of each beside its reading."""
    project_ids = {row["project_id"] for row in found} - {None}
    in_list = projects.c.id.in_(project_ids)
    places = {row["id"]: row for row in db.fetch(connection, projects, in_list)}
    session_ids = {row["session_id"] for row in found}
    asked = known_sessions.prompts(connection, session_ids)
    titles = known_sessions.titles(connection, session_ids)
    agents = {row["agent_id"] for row in found if row["agent_id"]}
    shares = trends(connection, session_ids)
    tasks = db.fetch(connection, subtasks, subtasks.c.agent_id.in_(agents), order=["created_ms"])
    given = {row["agent_id"]: row["description"] for row in tasks}
    details = []
    for row in found:
        place, agent_id, session_id = row["project_id"], row["agent_id"], row["session_id"]
        request = {} if agent_id else asked.get(session_id, {})
        words = given.get(agent_id) if agent_id else request.get("prompt")
        detail = {
            "project_id": place,
            **{f"project_{name}": places.get(place, {}).get(name) for name in ("path", "name")},
            "title": None if agent_id else titles.get(session_id),
            "asked": clip(" ".join(words.split()), ASKED_CHARS) if words else None,
            "answers": (request.get("metadata") or {}).get("answers"),
            "trend": shares.get((session_id, agent_id), []),
        }
        details.append(detail)
    return details


def _is_over() -> sa.ColumnElement[bool]:
    """The session or the agent ended, and nothing has happened in it since."""
    last_activity = windows.c.updated_ms - LATE_MS
    session = (sessions.c.id == windows.c.session_id) & (sessions.c.ended_ms >= last_activity)
    agent = (subtasks.c.agent_id == windows.c.agent_id) & (subtasks.c.completed_ms >= last_activity)
    mine = (windows.c.agent_id != "") & (subtasks.c.session_id == windows.c.session_id)
    return sa.exists().where(session) | sa.exists().where(mine & agent)


FORECAST = ("alert", "velocity_tokens_per_op", "ops_left", "minutes_left", "checkpoint_ms")


def room(row: Row | None, tokens: int | None = None) -> Row:
    """Return what an orchestrator needs to hand out work: zone, forecast, room left, and whether
    work of so many tokens fits. None means unknown, for example for an unknown agent."""
    held = (row or {}).get("health") or {}
    used, edge = (row or {}).get("used_tokens"), held.get("edge_tokens")
    left = max(0, edge - used) if row and edge else None
    return {
        "status": held.get("status") or "unknown",
        "recommended_action": held.get("recommended_action") or NOTHING,
        "zone": held.get("zone") or "unknown",
        **{name: held.get(name) for name in FORECAST},
        "room_tokens": left,
        "estimated": bool(held.get("estimated", True)),
        "fits": None if tokens is None else task_fits(left, tokens),
    }


TOLD = (
    *("used_tokens", "edge_tokens", "used_ratio", "zone", "alert", "estimated", "basis"),
    *("compacting", "ops_left", "ops_left_low", "ops_left_high", "minutes_left", "pace_ms"),
    *("model", "compactions", "checkpoint_ms", "checkpoint_trigger", "at_ms"),
)


def announce_window(connection: Connection, row: Row) -> None:
    """Announce a changed window with its reading, so that listeners need not ask for it."""
    held = row["health"] or {}
    body = {"agent_id": row["agent_id"], **{name: held.get(name) for name in TOLD}}
    db.announce(connection, "window.changed", body, row)


def reset(connection: Connection, row: Row, now_ms: int) -> Row:
    """Count a compaction that a client reports; no reading is invented."""
    changes: dict[str, Any] = {
        "compact_count": windows.c.compact_count + 1,
        "compacted_ms": now_ms,
        "updated_ms": now_ms,
    }
    key = (windows.c.session_id == row["session_id"]) & (windows.c.agent_id == row["agent_id"])
    freed = sa.update(windows).where(key).values(changes).returning(windows.c.compact_count)
    return {**row, **changes, "compact_count": connection.scalar(freed)}


def used_ratio(row: Row) -> float:
    return float((row["health"] or {}).get("used_ratio") or 0.0)


def refresh_readings(found: Sequence[Row], now_ms: int) -> list[Row]:
    """Return rows with the current health of this machine's windows. A reported path is never
    opened: only paths that a hook or the watcher noted here are."""
    looked = look([pair for row in found for pair in _local_states(row)], now_ms)
    return [_with_health(row, looked.get(_folder(row))) for row in found]


def state_of(session_id: str, agent_id: str) -> State | None:
    """Return this machine's state of a window that has a transcript; None if there is none."""
    state = states.load(window_places.window(session_id, agent_id))
    mine = (state.session_id, state.agent_id) == (session_id, agent_id)
    return state if mine and state.transcript else None


def _local_states(row: Row) -> Iterator[tuple[str, State]]:
    state = state_of(row["session_id"], row["agent_id"])
    if state is not None:
        yield _folder(row), state


def _with_health(row: Row, health: dict[str, object] | None) -> Row:
    if health is None:
        return row
    machine = (row["health"] or {}).get("machine")
    return {
        **row,
        "health": {**clean_value(health, TEXT_CHARS), "machine": machine},
        "used_tokens": health["used_tokens"],
    }


def _folder(row: Row) -> str:
    return window_places.window(row["session_id"], row["agent_id"])


CHUNK = 256  # steps of one row
DAY_MS = 86_400_000
KEPT_MS = 30 * DAY_MS
TREND = 40
MOST_STEP = 1 << 40
_KEY = ("session_id", "agent_id", "chunk")


class UsedAtStep(NamedTuple):
    step: int
    at_ms: int
    used_tokens: int
    limit_tokens: int | None


def add(
    connection: Connection,
    session_id: str,
    agent_id: str,
    points: Iterable[tuple[int, int, int]],
    limit_tokens: int | None,
) -> None:
    """Add (step, at_ms, used_tokens) of one window; a known step is replaced."""
    new: dict[int, dict[int, tuple[int, int]]] = {}
    for step, at_ms, used in points:
        new.setdefault(step // CHUNK, {})[step] = at_ms, used
    mine = db.matching(readings, session_id=session_id, agent_id=agent_id)
    held_rows = sa.select(readings).where(*mine, readings.c.chunk.in_(new)).with_for_update()
    before = {row["chunk"]: row for row in db.rows(connection, held_rows)}
    for chunk, steps in sorted(new.items()):
        held = before.get(chunk)
        merged = {**_steps(held), **steps} if held else steps
        limit = limit_tokens or (held["limit_tokens"] if held else None)
        row = {"session_id": session_id, "agent_id": agent_id, "chunk": chunk}
        row |= {"limit_tokens": limit, **_pack(merged)}
        db.put(connection, readings, _KEY, row)


def note_limit(connection: Connection, session_id: str, agent_id: str, limit_tokens: int) -> None:
    """Add the limit to readings of a window that were stored before it was known."""
    mine = (readings.c.session_id == session_id) & (readings.c.agent_id == agent_id)
    unknown = sa.update(readings).where(mine, readings.c.limit_tokens.is_(None))
    connection.execute(unknown.values(limit_tokens=limit_tokens))


def list_readings(
    connection: Connection,
    session_id: str,
    agent_id: str,
    first_step: int | None = None,
    last_step: int | None = None,
) -> list[UsedAtStep]:
    """List the readings of one window between two steps, inclusive, oldest first."""
    first, last = first_step or 0, MOST_STEP if last_step is None else last_step
    chunks = readings.c.chunk.between(first // CHUNK, last // CHUNK)
    mine = db.matching(readings, session_id=session_id, agent_id=agent_id)
    held = db.fetch(connection, readings, *mine, chunks, order=[readings.c.chunk])
    return [one for row in held for one in _unpack(row) if first <= one.step <= last]


def bounds(connection: Connection, session_id: str, agent_id: str) -> tuple[int, int] | None:
    """Return the first and the last stored step of a window."""
    found = list_readings(connection, session_id, agent_id)
    return (found[0].step, found[-1].step) if found else None


def trends(connection: Connection, session_ids: set[str]) -> dict[tuple[str, str], list[float]]:
    """Return the last shares of the limit for each window of these sessions."""
    table = readings.c
    ends = sa.select(table.session_id, table.agent_id, sa.func.max(table.chunk).label("chunk"))
    ends = ends.where(table.session_id.in_(session_ids))
    last = ends.group_by(table.session_id, table.agent_id).subquery()
    same = (table.session_id == last.c.session_id) & (table.agent_id == last.c.agent_id)
    query = sa.select(readings).join(last, same & (table.chunk >= last.c.chunk - 1))
    found: dict[tuple[str, str], list[float]] = {}
    for row in db.rows(connection, query.order_by(table.chunk)):
        if limit := row["limit_tokens"]:
            shares = found.setdefault((row["session_id"], row["agent_id"]), [])
            shares += [round(used / limit, 4) for used in row["body"]["used"]]
    return {window: shares[-TREND:] for window, shares in found.items()}


def thin(steps: Sequence[UsedAtStep], most: int) -> list[UsedAtStep]:
    """Return at most so many readings (at least four): the least and the greatest of each of
    equal stretches, in their order, with the first and the last. A curve that is as many points
    wide looks the same."""
    if len(steps) <= most:
        return list(steps)
    used = attrgetter("used_tokens")
    inner, buckets = steps[1:-1], (most - 2) // 2
    kept: list[UsedAtStep] = [steps[0]]
    for n in range(buckets):
        some = inner[len(inner) * n // buckets : len(inner) * (n + 1) // buckets]
        kept += sorted({min(some, key=used), max(some, key=used)})
    return [*kept, steps[-1]]


def prune(connection: Connection, now_ms: int, held: Collection[str] = ()) -> None:
    """Delete old readings, except of sessions that are `held`."""
    old = readings.c.last_ms < now_ms - KEPT_MS
    connection.execute(sa.delete(readings).where(old, readings.c.session_id.not_in(held)))


def _pack(steps: Mapping[int, tuple[int, int]]) -> Row:
    """Encode the readings of a row, with times relative to the first."""
    ordered = sorted(steps.items())
    first_ms = ordered[0][1][0]
    return {
        "n": len(ordered),
        "last_ms": max(at_ms for _, (at_ms, _) in ordered),
        "body": {
            "from_ms": first_ms,
            "step": [step for step, _ in ordered],
            "ms": [at_ms - first_ms for _, (at_ms, _) in ordered],
            "used": [used for _, (_, used) in ordered],
        },
    }


def _steps(row: Row) -> dict[int, tuple[int, int]]:
    return {one.step: (one.at_ms, one.used_tokens) for one in _unpack(row)}


def _unpack(row: Row) -> Iterator[UsedAtStep]:
    body, limit = row["body"], row["limit_tokens"]
    for step, ms, used in zip(body["step"], body["ms"], body["used"], strict=True):
        yield UsedAtStep(step, body["from_ms"] + ms, used, limit)


_COMPACTION = ("session_id", "agent_id", "number")


def add_compaction(connection: Connection, row: Row) -> None:
    """Add a compaction; unknown fields of a known one stay as they were."""
    known = {name: row[name] for name in row.keys() - _COMPACTION if row[name] is not None}
    connection.execute(db.upsert(connection, compactions, _COMPACTION, row, known))


def list_compactions(
    connection: Connection, limit: int, offset: int, *, since_ms: int = 0, **of: Any
) -> Page:
    """List compactions, newest first."""
    table = compactions.c
    order = (table.at_ms.desc(), table.session_id, table.agent_id, table.number.desc())
    where = [table.at_ms >= since_ms]
    return db.page(connection, limit, offset, table=compactions, order=order, where=where, **of)


def compactions_of(connection: Connection, session_id: str, agent_id: str) -> list[Row]:
    """List the compactions of one window, oldest first."""
    mine = db.matching(compactions, session_id=session_id, agent_id=agent_id)
    return db.fetch(connection, compactions, *mine, order=[compactions.c.number])

"""How full an agent's window is, as hooks read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.clean_text import clean_value
from holdfast.hub.ingest.records import TEXT_CHARS
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row, rows
from holdfast.hub.store.tables import projects, sessions, subtasks, windows
from holdfast.hub.tree import readings
from holdfast.hub.tree import sessions as known_sessions
from holdfast.text.sentences import clip
from holdfast.window import state as states
from holdfast.window.health import NOTHING, task_fits
from holdfast.window.state import State
from holdfast.window.windows import LIVE_MS, look
from holdfast.wire import places

ASKED_CHARS = 200
MOST_LIVE = 10_000
LATE_MS = 2_000  # a last call may be reported a moment after the end


def find(connection: Connection, agent_id: str) -> Row | None:
    """Find the newest window of this agent; for a session's id, its main window."""
    table = windows.c
    main = (table.session_id == agent_id) & (table.agent_id == "")
    query = sa.select(windows).where((table.agent_id == agent_id) | main)
    found = rows(connection, query.order_by(table.updated_ms.desc()).limit(1))
    return next(iter(refresh_readings(found, row_times.now_ms())), None)


def live(connection: Connection, now_ms: int, project_id: str | None = None) -> list[Row]:
    """List windows active in the last half hour that have not ended, fullest first."""
    query = sa.select(windows).where(*_are_live(now_ms, project_id)).limit(MOST_LIVE)
    found = refresh_readings(rows(connection, query), now_ms)
    return sorted(found, key=used_ratio, reverse=True)


def count_live(connection: Connection, now_ms: int, project_id: str | None = None) -> int:
    """Count what `live` lists, without a look at any transcript."""
    query = sa.select(sa.func.count()).select_from(windows)
    return connection.scalar(query.where(*_are_live(now_ms, project_id))) or 0


def _are_live(now_ms: int, project_id: str | None) -> list[sa.ColumnElement[bool]]:
    mine = [] if project_id is None else [windows.c.project_id == project_id]
    return [windows.c.updated_ms > now_ms - LIVE_MS, ~_is_over(), *mine]


def describe_windows(connection: Connection, found: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what a list of windows shows of each: its project, the first request as its title,
    the last request, and its last shares of the limit."""
    paths = _rows_by_id(connection, projects, {row["project_id"] for row in found})
    session_ids = {row["session_id"] for row in found}
    newest_requests = known_sessions.prompts(connection, session_ids)
    titles = known_sessions.titles(connection, session_ids)
    agents = {row["agent_id"] for row in found if row["agent_id"]}
    trends = readings.trends(connection, (row["session_id"] for row in found))
    tasks = sa.select(subtasks).where(subtasks.c.agent_id.in_(agents)).order_by("created_ms")
    given = {row["agent_id"]: row["description"] for row in rows(connection, tasks)}
    details = []
    for row in found:
        place = paths.get(row["project_id"]) or {}
        words = (
            given.get(row["agent_id"])
            if row["agent_id"]
            else newest_requests.get(row["session_id"])
        )
        details.append(
            {
                "project_id": row["project_id"],
                "project_path": place.get("path"),
                "project_name": place.get("name"),
                "title": None if row["agent_id"] else titles.get(row["session_id"]),
                "asked": clip(" ".join(words.split()), ASKED_CHARS) if words else None,
                "trend": trends.get((row["session_id"], row["agent_id"]), []),
            }
        )
    return details


def _rows_by_id(connection: Connection, table: sa.Table, ids: set[Any]) -> dict[str, Row]:
    query = sa.select(table).where(table.c.id.in_(ids - {None}))
    return {row["id"]: row for row in rows(connection, query)}


def _is_over() -> sa.ColumnElement[bool]:
    """The session or the agent ended, and nothing has happened in it since."""
    last_activity = windows.c.updated_ms - LATE_MS
    session = (sessions.c.id == windows.c.session_id) & (sessions.c.ended_ms >= last_activity)
    agent = (subtasks.c.agent_id == windows.c.agent_id) & (subtasks.c.completed_ms >= last_activity)
    mine = (windows.c.agent_id != "") & (subtasks.c.session_id == windows.c.session_id)
    return sa.exists().where(session) | sa.exists().where(mine & agent)


def room(row: Row | None, tokens: int | None = None) -> dict[str, Any]:
    """Return what an orchestrator needs to hand out work: zone, forecast, room left, and whether
    work of so many tokens fits. None means unknown, for example for an unknown agent."""
    held = (row or {}).get("health") or {}
    used, edge = (row or {}).get("used_tokens"), held.get("edge_tokens")
    left = max(0, edge - used) if row and edge else None
    return {
        "status": held.get("status") or "unknown",
        "recommended_action": held.get("recommended_action") or NOTHING,
        "zone": held.get("zone") or "unknown",
        "alert": held.get("alert"),
        "room_tokens": left,
        "estimated": bool(held.get("estimated", True)),
        "velocity_tokens_per_op": held.get("velocity_tokens_per_op"),
        "ops_left": held.get("ops_left"),
        "minutes_left": held.get("minutes_left"),
        "checkpoint_ms": held.get("checkpoint_ms"),
        "fits": None if tokens is None else task_fits(left, tokens),
    }


TOLD = (
    *("used_tokens", "edge_tokens", "used_ratio", "zone", "alert", "estimated", "basis"),
    *("compacting", "ops_left", "ops_left_low", "ops_left_high", "minutes_left", "pace_ms"),
    *("model", "compactions", "checkpoint_ms", "checkpoint_trigger", "at_ms"),
)


def announce(connection: Connection, row: Row) -> None:
    """Announce a changed window with its reading, so that listeners need not ask for it."""
    held = row["health"] or {}
    events.announce(
        connection,
        "window.changed",
        {"agent_id": row["agent_id"], **{name: held.get(name) for name in TOLD}},
        project_id=row.get("project_id"),
        session_id=row["session_id"],
    )


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
    """Return rows with the current health of this machine's windows; other rows stay unchanged.

    A reported path is never opened: only paths that a hook or the watcher noted here are.
    """
    looked = look([pair for row in found for pair in _local_states(row)], now_ms)
    healths = [looked.get(_folder(row)) for row in found]
    pairs = zip(found, healths, strict=True)
    return [row if health is None else _with_health(row, health) for row, health in pairs]


def state_of(session_id: str, agent_id: str) -> State | None:
    """Return this machine's state of a window that has a transcript; None if there is none."""
    state = states.load(places.window(session_id, agent_id))
    mine = (state.session_id, state.agent_id) == (session_id, agent_id)
    return state if mine and state.transcript else None


def _local_states(row: Row) -> Iterator[tuple[str, State]]:
    state = state_of(row["session_id"], row["agent_id"])
    if state is not None:
        yield _folder(row), state


def _with_health(row: Row, health: dict[str, object]) -> Row:
    machine = (row["health"] or {}).get("machine")
    return {
        **row,
        "health": {**clean_value(health, TEXT_CHARS), "machine": machine},
        "used_tokens": health["used_tokens"],
    }


def _folder(row: Row) -> str:
    return places.window(row["session_id"], row["agent_id"])

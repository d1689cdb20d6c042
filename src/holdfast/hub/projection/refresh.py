"""Projections of the live sessions of this machine, written anew from the store."""

from __future__ import annotations

from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.board.local_agents import LISTENS_MS, listeners
from holdfast.hub.projection import projection_file, short_rows
from holdfast.hub.store.rows import Row, first, rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    blockings,
    events,
    messages,
    projects,
    requests,
    sessions,
    subtasks,
    tasks,
)
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.hub.tree.statuses import OPEN
from holdfast.wire import log

MOST_PLACES = 20
MOST_ACTIONS, MOST_MESSAGES, MOST_TASKS, MOST_SUBTASKS, MOST_AGENTS = 100, 50, 100, 200, 50


def refresh(store: Store, *, project_id: str = "", now_ms: int | None = None) -> int:
    """How many were written: those of this project, or of all."""
    now_ms = row_times.now_ms() if now_ms is None else now_ms
    written = 0
    for folder, session_id in live(now_ms):
        found = store.read(partial(projected, session_id=session_id, now_ms=now_ms))
        if not found or (project_id and found["project_id"] != project_id):
            continue
        try:
            projection_file.write(folder, found)
            written += 1
        except OSError as slip:  # an index: the hook goes on without
            log.add("WARN", "projection", f"{folder}: not written: {slip}")
    return written


def follow(store: Store, after: int) -> int:
    """Those of projects in which something happened since event `after`; the number of the newest
    event, to ask with the next time."""
    last, places = store.read(partial(_touched, after=after))
    for project_id in {""} if None in places else places:  # without one it may concern anybody
        refresh(store, project_id=project_id or "")
    return last


def _touched(connection: Connection, after: int) -> tuple[int, set[str | None]]:
    last = connection.scalar(sa.select(sa.func.max(events.c.id))) or 0
    if last == after:
        return last, set()
    query = sa.select(events.c.project_id).where(events.c.id > after).distinct().limit(MOST_PLACES)
    found = set(connection.execute(query).scalars())
    return last, {None} if len(found) >= MOST_PLACES or last < after else found


def live(now_ms: int) -> list[tuple[str, str]]:
    """(main window's folder, session) of sessions that have not ended and were heard of lately."""
    return [(one.folder, one.name) for one in listeners(now_ms) if not one.is_agent]


def projected(connection: Connection, session_id: str, now_ms: int) -> dict[str, Any]:
    """Everything the file holds; empty for a session the store has not heard of."""
    session = first(connection, sa.select(sessions).where(sessions.c.id == session_id))
    if session is None or session["project_id"] is None:
        return {}
    project_id = session["project_id"]
    project = first(connection, sa.select(projects).where(projects.c.id == project_id)) or {}
    asked = _newest(connection, requests, requests.c.session_id == session_id, 1)
    listed = _tasks(connection, asked[0]["id"]) if asked else []
    parts = _subtasks(connection, subtasks.c.session_id == session_id)
    agents = {row["agent_id"] for row in parts if row["agent_id"]} | {session_id}
    waits = blockings.c.blocked_agent.in_(agents) | blockings.c.blocked_by.in_(agents)
    return {
        "version": projection_file.VERSION,
        "at_ms": now_ms,
        "session_id": session_id,
        "project_id": project_id,
        "hierarchy": short_rows.hierarchy(project, asked, listed, parts),
        "waves": short_rows.waves(listed),
        "open_elsewhere": [
            short_rows.subtask(row) for row in _elsewhere(connection, session, now_ms)
        ],
        "agent_states": [short_rows.agent(row) for row in _agents(connection, session_id)],
        "recent_messages": [short_rows.message(row) for row in _messages(connection, project_id)],
        "recent_actions": [short_rows.action(row) for row in _actions(connection, session_id)],
        "blocking": [short_rows.blocking(row) for row in _newest(connection, blockings, waits, 50)],
        "pins": [],
    }


def _newest(connection: Connection, table: sa.Table, where: Any, most: int) -> list[Row]:
    """Newest last."""
    query = sa.select(table).where(where)
    query = query.order_by(table.c.created_ms.desc(), table.c.id.desc()).limit(most)
    return rows(connection, query)[::-1]


def _tasks(connection: Connection, request_id: str) -> list[Row]:
    query = sa.select(tasks).where(tasks.c.request_id == request_id)
    return rows(
        connection, query.order_by(tasks.c.wave_number, tasks.c.created_ms).limit(MOST_TASKS)
    )


def _subtasks(connection: Connection, where: Any) -> list[Row]:
    """Those not over first, then the newest."""
    over = sa.case((subtasks.c.status.in_(OPEN), 0), else_=1)
    query = sa.select(subtasks).where(where).order_by(over, subtasks.c.created_ms.desc())
    return rows(connection, query.limit(MOST_SUBTASKS))


def _elsewhere(connection: Connection, session: Row, now_ms: int) -> list[Row]:
    """What agents of other live sessions of this project have not finished."""
    others = sa.select(sessions.c.id).where(
        sessions.c.project_id == session["project_id"],
        sessions.c.id != session["id"],
        sessions.c.ended_ms.is_(None),
        sessions.c.seen_ms > now_ms - LISTENS_MS,
    )
    others = others.order_by(sessions.c.started_ms.desc()).limit(MOST_AGENTS)
    theirs = sa.select(subtasks).where(
        subtasks.c.session_id.in_(others), subtasks.c.status.in_(OPEN)
    )
    return rows(connection, theirs.order_by(subtasks.c.created_ms.desc()).limit(MOST_AGENTS))[::-1]


def _agents(connection: Connection, session_id: str) -> list[Row]:
    mine = (agent_contexts.c.session_id == session_id) & (agent_contexts.c.agent_type != SNAPSHOT)
    query = sa.select(agent_contexts).where(mine)
    return rows(connection, query.order_by(agent_contexts.c.updated_ms.desc()).limit(MOST_AGENTS))


def _messages(connection: Connection, project_id: str) -> list[Row]:
    return _newest(connection, messages, messages.c.project_id == project_id, MOST_MESSAGES)


def _actions(connection: Connection, session_id: str) -> list[Row]:
    return _newest(connection, actions, actions.c.session_id == session_id, MOST_ACTIONS)

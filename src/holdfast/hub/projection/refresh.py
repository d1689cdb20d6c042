"""Write the projections of this machine's live sessions from the store: short rows, with the API's
field names, without secrets.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.board.local_agents import LISTENS_MS, listeners, sessions_called
from holdfast.hub.clean_text import clean
from holdfast.hub.projection import projection_file
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
from holdfast.hub.tree import event_log, waves
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.hub.tree.statuses import OPEN
from holdfast.hub.tree.waves import SETTLED
from holdfast.wire import log

WORDS, SHORT = 600, 200
TEXTS = {"prompt": WORDS, "name": SHORT, "description": SHORT, "reason": SHORT}
TIMES = ("created_ms",)
SUBTASK = ("id", "session_id", "agent_id", "agent_type", "description", "status")


def hierarchy(project: Row, asked: list[Row], listed: list[Row], parts: list[Row]) -> Row:
    """Return the tree of the current request."""
    below: dict[str, list[Row]] = {}
    for part in parts:
        below.setdefault(part["task_id"], []).append(subtask(part))
    of_tasks = [
        {**short(one, "id", "name", "status", "wave_number"), "subtasks": below.pop(one["id"], [])}
        for one in listed
    ]
    requests = [
        {**short(one, "id", "prompt", "status", *TIMES), "tasks": of_tasks} for one in asked
    ]
    earlier = [one for some in below.values() for one in some if one["status"] not in SETTLED]
    found: Row = {"project": {"id": project.get("id"), "path": project.get("path")}}
    found |= {"requests": requests, **({"earlier_subtasks": earlier} if earlier else {})}
    return found


def short(row: Row, *names: str) -> Row:
    """Return these columns as the API names them: texts cut and without secrets, times as text."""
    shown: Row = {}
    for name in names:
        if name in TIMES:
            shown[f"{name[:-3]}_at"] = row_times.to_iso(row[name])
        else:
            shown[name] = clean(row[name] or "", TEXTS[name]) if name in TEXTS else row[name]
    return shown


def subtask(row: Row) -> Row:
    result = clean(_words(row["result"]), SHORT) if row["result"] else None
    return {**short(row, *SUBTASK), "result": result}


def agent(row: Row) -> Row:
    role = row["role_context"] if isinstance(row["role_context"], dict) else {}
    summary = row["progress_summary"] or str(role.get("task_description") or "")
    return {
        **short(row, "agent_id", "agent_type"),
        "status": row["status"] or "running",
        "summary": clean(summary, SHORT),
        "skills_to_restore": (row["skills_to_restore"] or [])[-20:],
        "tools_used": (row["tools_used"] or [])[:20],
    }


def message(row: Row) -> Row:
    names = ("id", "from_agent", "to_agent", "topic", "priority", *TIMES)
    return {**short(row, *names), "content": clean(_words(row["content"]), WORDS)}


def action(row: Row) -> Row:
    names = ("tool_name", "tool_type", "agent_id", "exit_code", "duration_ms", *TIMES)
    paths = [clean(str(path), SHORT) for path in (row["file_paths"] or [])[:3]]
    return {**short(row, *names), "file_paths": paths, "detail": clean(row["input"] or "", SHORT)}


def _words(content: Any) -> str:
    if isinstance(content, dict) and isinstance(content.get("message"), str):
        return str(content["message"])
    return json.dumps(content, ensure_ascii=False)


MOST_PLACES = 20
# These events come with every call, and a projection holds nothing of them.
CALLS = "actions.created"
OF_WINDOWS = ("window.changed", "alert.raised", "brief.given", "checkpoint.kept")
MOST_ACTIONS, MOST_MESSAGES, MOST_TASKS, MOST_SUBTASKS, MOST_AGENTS = 100, 50, 100, 200, 50


def refresh(
    store: Store,
    *,
    project_ids: Collection[str] = (),
    session_ids: Collection[str] = (),
    now_ms: int | None = None,
) -> int:
    """Write the projections of these projects and sessions, or of all; return how many were
    written."""
    now_ms = row_times.now_ms() if now_ms is None else now_ms
    written = 0
    wanted = live(now_ms, () if project_ids else session_ids)
    if project_ids:
        # Filter first: building 200 projections takes a second, and most are of other projects.
        mine = store.read(partial(_sessions_of, project_ids=project_ids)) | set(session_ids)
        wanted = [(folder, session_id) for folder, session_id in wanted if session_id in mine]
    for folder, session_id in wanted:
        found = store.read(partial(build_projection, session_id=session_id, now_ms=now_ms))
        written += _write(folder, found)
    return written


def _write(folder: str, found: dict[str, Any]) -> bool:
    if not found:
        return False
    try:
        projection_file.write(folder, found)
    except OSError as error:  # an index: the hook goes on without
        log.add("WARN", "projection", f"{folder}: not written: {error}")
        return False
    return True


def refresh_calls(store: Store, session_ids: Collection[str]) -> None:
    """Write what a tool call changes into the projections of its session, and nothing else. Calls
    are what happens most; building everything else again took a fifth of a busy server's time."""
    now_ms = row_times.now_ms()
    for folder, session_id in live(now_ms, session_ids):
        held = projection_file.read_projection(folder)
        build = _of_calls if held.get("session_id") == session_id else build_projection
        found = store.read(partial(build, session_id=session_id, now_ms=now_ms))
        _write(folder, {**held, **found} if found else {})


def _of_calls(connection: Connection, session_id: str, now_ms: int) -> dict[str, Any]:
    return {
        "at_ms": now_ms,
        "agent_states": list(map(agent, rows(connection, _AGENTS, {"session": session_id}))),
        "recent_actions": list(
            map(action, rows(connection, _ACTIONS, {"session": session_id})[::-1])
        ),
    }


def _sessions_of(connection: Connection, project_ids: Collection[str]) -> set[str]:
    query = sa.select(sessions.c.id).where(sessions.c.project_id.in_(list(project_ids)))
    return set(connection.execute(query).scalars())


def follow(store: Store, after: int) -> int:
    """Write the projections of projects with events after number `after`; return the newest
    event's number, for the next call. A tool call concerns only its own session."""
    last, changed_projects, changed_sessions = store.read(partial(_changed_since, after=after))
    if None in changed_projects:  # an event without a project may concern any session
        refresh(store)
        return last
    if changed_sessions:
        refresh_calls(store, changed_sessions)
    if changed_projects:
        refresh(store, project_ids=[one for one in changed_projects if one is not None])
    return last


def _changed_since(connection: Connection, after: int) -> tuple[int, set[str | None], set[str]]:
    last = event_log.newest_id(connection)
    if last == after:
        return last, set(), set()
    since = {"after": after}
    found = set(connection.execute(_CHANGED, since).scalars())
    if len(found) >= MOST_PLACES or last < after:
        return last, {None}, set()
    return last, found, set(connection.execute(_CALLED, since).scalars()) - {None}


_AFTER = events.c.id > sa.bindparam("after")
_CHANGED = (
    sa.select(events.c.project_id)
    .where(_AFTER, events.c.kind.not_in((*OF_WINDOWS, CALLS)))
    .distinct()
    .limit(MOST_PLACES)
)
_CALLED = sa.select(events.c.session_id).where(_AFTER, events.c.kind == CALLS).distinct()


def live(now_ms: int, session_ids: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return (main window's folder, session) of recently active sessions that have not ended: of
    these, or of all."""
    found = sessions_called(now_ms, session_ids) if session_ids else listeners(now_ms)
    return [(one.folder, one.name) for one in found if not one.is_agent]


def build_projection(connection: Connection, session_id: str, now_ms: int) -> dict[str, Any]:
    """Return the content of the file; empty for a session the store does not know."""
    session = first(connection, sa.select(sessions).where(sessions.c.id == session_id))
    if session is None or session["project_id"] is None:
        return {}
    project_id = session["project_id"]
    project = first(connection, sa.select(projects).where(projects.c.id == project_id)) or {}
    newest_request = _newest(connection, requests, requests.c.session_id == session_id, 1)
    listed = _tasks(connection, newest_request[0]["id"]) if newest_request else []
    parts = _subtasks(connection, subtasks.c.session_id == session_id)
    agents = {row["agent_id"] for row in parts if row["agent_id"]} | {session_id}
    here = messages.c.project_id == project_id
    waits = blockings.c.blocked_agent.in_(agents) | blockings.c.blocked_by.in_(agents)
    return {
        "version": projection_file.VERSION,
        "session_id": session_id,
        "project_id": project_id,
        "hierarchy": hierarchy(project, newest_request, listed, parts),
        "waves": waves.shown(listed),
        "open_elsewhere": list(map(subtask, _open_subtasks(connection, session, now_ms))),
        "recent_messages": list(map(message, _newest(connection, messages, here, MOST_MESSAGES))),
        **_of_calls(connection, session_id, now_ms),
        "blocking": [
            short(row, "blocked_by", "blocked_agent", "reason")
            for row in _newest(connection, blockings, waits, 50)
        ],
        "pins": [],
    }


def _newest(connection: Connection, table: sa.Table, where: Any, most: int) -> list[Row]:
    """Return the newest rows, newest last."""
    query = sa.select(table).where(where)
    query = query.order_by(table.c.created_ms.desc(), table.c.id.desc()).limit(most)
    return rows(connection, query)[::-1]


def _tasks(connection: Connection, request_id: str) -> list[Row]:
    query = sa.select(tasks).where(tasks.c.request_id == request_id)
    return rows(
        connection, query.order_by(tasks.c.wave_number, tasks.c.created_ms).limit(MOST_TASKS)
    )


def _subtasks(connection: Connection, where: Any) -> list[Row]:
    """Return open subtasks first, then the newest."""
    over = sa.case((subtasks.c.status.in_(OPEN), 0), else_=1)
    query = sa.select(subtasks).where(where).order_by(over, subtasks.c.created_ms.desc())
    return rows(connection, query.limit(MOST_SUBTASKS))


def _open_subtasks(connection: Connection, session: Row, now_ms: int) -> list[Row]:
    """List open work of agents in other live sessions of this project."""
    table = sessions.c
    others = sa.select(table.id).where(
        table.project_id == session["project_id"],
        table.id != session["id"],
        table.ended_ms.is_(None),
        table.seen_ms > now_ms - LISTENS_MS,
    )
    others = others.order_by(table.started_ms.desc()).limit(MOST_AGENTS)
    theirs = subtasks.c.session_id.in_(others) & subtasks.c.status.in_(OPEN)
    return _newest(connection, subtasks, theirs, MOST_AGENTS)


_AGENTS = (
    sa.select(agent_contexts)
    .where(
        agent_contexts.c.session_id == sa.bindparam("session"),
        agent_contexts.c.agent_type != SNAPSHOT,
    )
    .order_by(agent_contexts.c.updated_ms.desc())
    .limit(MOST_AGENTS)
)


_ACTIONS = (
    sa.select(actions)
    .where(actions.c.session_id == sa.bindparam("session"))
    .order_by(actions.c.created_ms.desc(), actions.c.id.desc())
    .limit(MOST_ACTIONS)
)

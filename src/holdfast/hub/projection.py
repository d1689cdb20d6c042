"""Write the projections of this machine's live sessions from the store: rows with the API's field
names, cut and without secrets.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

import sqlalchemy as sa

from holdfast.hub import projection_file, row_times
from holdfast.hub.board.local_agents import LISTENS_MS, listeners
from holdfast.hub.clean_text import clean_value
from holdfast.hub.store import rows as db
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree import waves, work
from holdfast.hub.tree.contexts import SNAPSHOT
from holdfast.hub.tree.waves import OPEN
from holdfast.wire import log

WORDS, SHORT = 600, 200
MOST_PLACES = 20
OF_WINDOWS = ("window.changed", "alert.raised", "brief.given", "checkpoint.kept")
MOST_ACTIONS, MOST_MESSAGES, MOST_TASKS, MOST_SUBTASKS, MOST_AGENTS = 100, 50, 100, 200, 50


def refresh(store: Store, project_ids: Collection[str] = (), now_ms: int | None = None) -> int:
    """Write the projections of live sessions: of these projects, or all; return their number."""
    now_ms = row_times.now_ms() if now_ms is None else now_ms
    wanted = [one for one in listeners(now_ms) if not one.is_agent]
    if project_ids:
        # Filter first: building 200 projections takes a second, and most are of other projects.
        mine = sa.select(tables.sessions.c.id).where(tables.sessions.c.project_id.in_(project_ids))
        known = set(store.read(lambda c: c.scalars(mine).all()))
        wanted = [one for one in wanted if one.name in known]
    written = 0
    for one in wanted:
        found = store.read(partial(build_projection, session_id=one.name, now_ms=now_ms))
        try:
            if found:
                projection_file.write(one.folder, found)
                written += 1
        except OSError as error:  # an index: the hook goes on without
            log.add("WARN", "projection", f"{one.folder}: not written: {error}")
    return written


def follow(store: Store, after: int) -> int:
    """Write the projections of projects with events after number `after`; return the newest
    event's number, for the next call."""
    last, changed = store.read(partial(_changed_since, after=after))
    if changed:  # an event without a project may concern any session
        refresh(store, () if None in changed else [one for one in changed if one])
    return last


def _changed_since(connection: sa.Connection, after: int) -> tuple[int, set[str | None]]:
    last = db.newest_event(connection)
    query = sa.select(tables.events.c.project_id).where(tables.events.c.kind.not_in(OF_WINDOWS))
    query = query.where(tables.events.c.id > after).distinct().limit(MOST_PLACES)
    found = set(connection.scalars(query)) if last > after else set()
    return last, {None} if len(found) >= MOST_PLACES or last < after else found


def build_projection(connection: sa.Connection, session_id: str, now_ms: int) -> dict[str, Any]:
    """Return the content of the file; empty for a session the store does not know."""
    session = db.find(connection, session_id, table=tables.sessions)
    if session is None or session["project_id"] is None:
        return {}
    project_id = session["project_id"]
    project = db.find(connection, project_id, table=tables.projects) or {}
    mine = tables.subtasks.c.session_id == session_id
    is_over = sa.case((tables.subtasks.c.status.in_(OPEN), 0), else_=1)
    asked = _newest(connection, tables.requests, tables.requests.c.session_id == session_id, 1)
    listed = work.tasks_of(connection, asked[0]["id"])[:MOST_TASKS] if asked else []
    open_first = (is_over, tables.subtasks.c.created_ms.desc())
    parts = db.fetch(connection, tables.subtasks, mine, order=open_first, most=MOST_SUBTASKS)
    agents = {row["agent_id"] for row in parts if row["agent_id"]} | {session_id}
    states = tables.agent_contexts.c
    is_agent = (states.session_id == session_id) & (states.agent_type != SNAPSHOT)
    order = (states.updated_ms.desc(),)
    known = db.fetch(connection, tables.agent_contexts, is_agent, order=order, most=MOST_AGENTS)
    here = tables.messages.c.project_id == project_id
    waits = tables.blockings.c.blocked_agent.in_(agents) | tables.blockings.c.blocked_by.in_(agents)
    calls = _newest(
        connection, tables.actions, tables.actions.c.session_id == session_id, MOST_ACTIONS
    )
    return {
        "version": projection_file.VERSION,
        "at_ms": now_ms,
        "session_id": session_id,
        "project_id": project_id,
        "hierarchy": _hierarchy(project, asked, listed, parts),
        "waves": waves.shown(listed),
        "open_elsewhere": shown(_open_subtasks(connection, session, now_ms)),
        "agent_states": shown(known),
        "recent_messages": shown(_newest(connection, tables.messages, here, MOST_MESSAGES)),
        "recent_actions": shown(calls, SHORT),
        "blocking": shown(_newest(connection, tables.blockings, waits, 50)),
    }


def shown(found: list[Row], most: int = WORDS) -> list[Row]:
    """Return rows as the API names them, cut, clean, and without what is only for a search."""
    kept = ({name: row[name] for name in row if name not in _LEFT} for row in found)
    return [clean_value(db.with_public_times(row), most) for row in kept]


_LEFT = ("output", "keywords", "context_snapshot", "metadata", "expires_ms", "project_id")


def _hierarchy(project: Row, asked: list[Row], listed: list[Row], parts: list[Row]) -> Row:
    """Return the tree of the current request, and what is open of earlier ones."""
    below: dict[str, list[Row]] = {}
    for row, part in zip(parts, shown(parts, SHORT), strict=True):
        below.setdefault(row["task_id"], []).append(part)
    of_tasks = [
        {**task, "subtasks": below.pop(row["id"], [])}
        for row, task in zip(listed, shown(listed, SHORT), strict=True)
    ]
    earlier = [one for some in below.values() for one in some if one["status"] in OPEN]
    found: Row = {"project": {"id": project.get("id"), "path": project.get("path")}}
    found["requests"] = [{**request, "tasks": of_tasks} for request in shown(asked)]
    return {**found, "earlier_subtasks": earlier} if earlier else found


def _newest(connection: sa.Connection, table: sa.Table, where: Any, most: int) -> list[Row]:
    """Return the newest rows, newest last."""
    return db.fetch(connection, table, where, order=db.newest_first(table), most=most)[::-1]


def _open_subtasks(connection: sa.Connection, session: Row, now_ms: int) -> list[Row]:
    """List open work of agents in other live sessions of this project."""
    table = tables.sessions.c
    others = sa.select(table.id).where(
        table.project_id == session["project_id"],
        table.id != session["id"],
        table.ended_ms.is_(None),
        table.seen_ms > now_ms - LISTENS_MS,
    )
    others = others.order_by(table.started_ms.desc()).limit(MOST_AGENTS)
    theirs = tables.subtasks.c.session_id.in_(others) & tables.subtasks.c.status.in_(OPEN)
    return _newest(connection, tables.subtasks, theirs, MOST_AGENTS)

"""Actions: one tool call each, and the sums they leave in their session. These are by far the most
rows.

This module writes actions sent over HTTP; `ingest/writers/actions` writes those read from
transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.store import events
from holdfast.hub.store.rows import Page, Row, fetch_page, get, matching, newest_first, rows
from holdfast.hub.store.tables import actions, subtasks
from holdfast.hub.tree import agent_contexts, projects, sessions

HOUR_MS = 3_600_000
NEWEST = 10_000  # top tools are those of the newest calls: a million are not counted again
MOST_KEYWORDS = 10
_READ_CHARS = 4_000
_WORD = re.compile(r"[^\W\d_]{3,}")
_SAY_NOTHING = frozenset(
    ("the", "and", "for", "with", "from", "that", "this", "into", "not", "are")
)
_UNLISTED = ("project_id", "agent_id", "input", "output")
_LISTED = tuple(column for column in actions.c if column.name not in _UNLISTED)


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add what a client sent. Its project and session are created if they are new, and the sums of
    the session grow."""
    path, subtask_id = given.get("project_path"), given.get("subtask_id")
    subtask = get(connection, subtasks, subtask_id, "Subtask") if subtask_id else {}
    row = {
        "input": None,
        "output": None,
        "exit_code": 0,
        "duration_ms": None,
        "file_paths": [],
        **{name: value for name, value in given.items() if name != "project_path"},
        "id": ids.in_order(now_ms),
        "session_id": given.get("session_id") or subtask.get("session_id"),
        "project_id": projects.id_of(path) if path else None,
        "agent_id": given.get("agent_id"),
        "subtask_id": subtask_id,
        "created_ms": now_ms,
        "keywords": keywords(given.get("input"), given.get("file_paths", ())),
    }
    if path:
        projects.meet(connection, path, now_ms)
    if row["session_id"]:
        sessions.add_call(connection, row)
    connection.execute(sa.insert(actions), row)
    agent_id = row["agent_id"] or subtask.get("agent_id")
    if agent_id and row["session_id"]:
        agent_contexts.note_call(connection, row, agent_id)
    shown = ("id", "tool_name", "tool_type", "exit_code")
    events.tell(connection, "action.created", row, *shown, at_ms=now_ms)
    return row


def list_page(connection: Connection, limit: int, offset: int, **wanted: str | None) -> Page:
    """List actions, newest first, without their input and output."""
    query = sa.select(*_LISTED).where(*matching(actions, **wanted))
    return fetch_page(connection, query.order_by(*newest_first(actions)), limit, offset)


def hourly(connection: Connection, now_ms: int, session_id: str | None = None) -> list[Row]:
    """Count the actions of each hour of the last day; hours without any are left out."""
    hour = (actions.c.created_ms // HOUR_MS).label("hour")
    since = actions.c.created_ms > now_ms - 24 * HOUR_MS
    query = sa.select(hour, sa.func.count().label("count"))
    query = query.where(since, *matching(actions, session_id=session_id))
    return [
        {"hour": row_times.to_iso(int(row["hour"]) * HOUR_MS), "count": row["count"]}
        for row in rows(connection, query.group_by(hour).order_by(hour))
    ]


def top_tools(connection: Connection, limit: int, tool_type: str | None = None) -> list[Row]:
    """Return the tools called most among the newest calls."""
    newest = sa.select(actions.c.tool_name, actions.c.tool_type)
    newest = newest.where(*matching(actions, tool_type=tool_type))
    seen = newest.order_by(*newest_first(actions)).limit(NEWEST).subquery()
    n = sa.func.count().label("count")
    query = sa.select(seen.c.tool_name, seen.c.tool_type, n)
    query = query.group_by(seen.c.tool_name, seen.c.tool_type)
    return rows(connection, query.order_by(n.desc(), seen.c.tool_name).limit(limit))


def keywords(text: str | None, paths: Iterable[str]) -> list[str]:
    """Return the first ten different words that mean something."""
    words = " ".join((text or "", *paths))[:_READ_CHARS].lower()
    found = dict.fromkeys(word for word in _WORD.findall(words) if word not in _SAY_NOTHING)
    return list(found)[:MOST_KEYWORDS]

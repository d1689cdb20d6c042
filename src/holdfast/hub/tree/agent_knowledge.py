"""What one agent should know now: its tasks, its calls, messages to it, and who waits for whom.

Its queries are built once, when this module is loaded: building one takes several times as long as
running it, and a restore runs eleven.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.checkpoint.snapshot_form import normalize, requests_of
from holdfast.hub import row_times
from holdfast.hub.board.deliveries import hears, is_undelivered
from holdfast.hub.errors import NotThere
from holdfast.hub.store.rows import Row, first, rows
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    blockings,
    messages,
    projects,
    requests,
    sessions,
    subtasks,
    windows,
)
from holdfast.hub.tree import waves
from holdfast.hub.tree.agent_contexts import TASK_FIELDS, latest_snapshot, open_now
from holdfast.hub.tree.statuses import OPEN
from holdfast.hub.tree.waves import SETTLED
from holdfast.window.view import EDITS

MOST = 50
MOST_REQUESTS = 10
WAVES_BEFORE, WAVES_SHOWN = 2, 8
MOST_EDITS = 500  # calls searched for changed files
DURATIONS = frozenset(("total_duration_ms", "duration_ms"))

_SESSION = sa.bindparam("session_id", type_=sa.Text)
_AGENT = sa.bindparam("agent_id", type_=sa.Text)
_AGENTS = sa.bindparam("agents", type_=sa.Text, expanding=True)
_OF_PROJECT = "project."
_SESSION_AND_PROJECT = (
    sa.select(*sessions.c, *(column.label(_OF_PROJECT + column.name) for column in projects.c))
    .select_from(sessions.outerjoin(projects))
    .where(sessions.c.id == _SESSION)
)


def _newest_open(*columns: sa.Column[Any]) -> sa.Select[Any]:
    """Build the query for open subtasks of the agent or the session. An index orders them by
    status and age, so a session with a thousand open ones is not sorted."""
    table = subtasks.c
    newest = sa.select(table.id, table.created_ms).order_by(table.created_ms.desc()).limit(MOST)
    of_session = newest.where(table.session_id == _SESSION)
    each = [of_session.where(table.status == one).subquery() for one in sorted(OPEN)]
    of_agent = newest.where(table.agent_id == _AGENT, table.status.in_(OPEN)).subquery()
    found = sa.union(*(sa.select(one) for one in (*each, of_agent))).subquery()
    few = sa.select(found.c.id).order_by(found.c.created_ms.desc(), found.c.id).limit(MOST)
    return sa.select(*columns).where(table.id.in_(few)).order_by(table.created_ms.desc(), table.id)


_TASKS = _newest_open(*subtasks.c)
_TASKS_SHOWN = _newest_open(*(subtasks.c[name] for name in TASK_FIELDS))
_BLOCKINGS = (
    sa.select(blockings)
    .where(blockings.c.blocked_by.in_(_AGENTS) | blockings.c.blocked_agent.in_(_AGENTS))
    .limit(MOST)
)
_HISTORY = (
    sa.select(
        actions.c.id,
        actions.c.tool_name,
        actions.c.tool_type,
        actions.c.exit_code,
        actions.c.file_paths,
        actions.c.created_ms,
    )
    .where(actions.c.session_id == _SESSION)
    .order_by(actions.c.created_ms.desc(), actions.c.id)
    .limit(sa.bindparam("history_limit"))
)
_ASKED = (
    sa.select(requests.c.prompt, requests.c.status)
    .where(requests.c.session_id == _SESSION, requests.c.prompt != "")
    .order_by(requests.c.created_ms.desc(), requests.c.id.desc())
    .limit(MOST_REQUESTS)
)
_EDITS = (
    sa.select(actions.c.file_paths)
    .where(
        actions.c.session_id == _SESSION,
        actions.c.tool_name.in_(EDITS),
        actions.c.exit_code == 0,
    )
    .order_by(actions.c.created_ms.desc(), actions.c.id)
    .limit(MOST_EDITS)
)


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    history: bool = True
    messages: bool = True
    blocking: bool = True
    history_limit: int = 50
    agent_type: bool = True  # look the agent's type up where it was last active
    for_brief: bool = False  # only the columns that a brief shows


@dataclass(frozen=True, slots=True)
class KnownWork:
    session_id: str | None
    agent_type: str | None
    data: dict[str, Any]
    saved: dict[str, Any]  # the newest snapshot, normalized and updated
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(value) for name, value in self.data.items() if isinstance(value, list)}

    @property
    def snapshot_fields(self) -> dict[str, Any]:
        """The same, with the field names of a snapshot, for the brief."""
        return {
            **self.saved,
            "unread_messages": self.data["messages"],
            "recent_actions": self.data["history"] or self.saved["recent_actions"],
            "blockings": self.data["blockings"],
        }


def find_work(
    connection: Connection,
    agent_id: str,
    session_id: str | None,
    wanted: KnowledgeQuery,
    now_ms: int,
) -> KnownWork:
    """Collect what is known for an agent; raise for an unknown agent without a session."""
    is_asked = wanted.agent_type or session_id is None
    place = (_last_place(connection, agent_id) if is_asked else None) or {}
    session_id = session_id or place.get("session_id")
    if session_id is None:
        raise NotThere("Agent", agent_id)
    session, project = _session_and_project(connection, session_id)
    snapshot = latest_snapshot(connection, session_id)
    project_id = session["project_id"] if session else None
    data: dict[str, Any] = {
        "tasks": _tasks(connection, agent_id, session_id, wanted),
        "messages": _unread(connection, agent_id, project_id, now_ms) if wanted.messages else [],
        "blockings": [],
        "history": _history(connection, session_id, wanted),
        "session": _with_iso_times(session) if session else None,
        "project": _with_iso_times(project) if project else None,
    }
    if wanted.blocking:
        agents = {agent_id, *(row["agent_id"] for row in data["tasks"] if row["agent_id"])}
        data["blockings"] = _blockings(connection, agents)
    sources = _sources(snapshot, data["tasks"])
    saved = normalize(snapshot["role_context"] if snapshot else None)
    saved |= {} if wanted.messages else {"recent_messages": []}
    saved |= {} if wanted.history else {"recent_actions": []}
    saved |= _since(connection, session_id, saved, data["tasks"])
    return KnownWork(session_id, place.get("agent_type"), data, saved, sources)


def _session_and_project(connection: Connection, session_id: str) -> tuple[Row | None, Row | None]:
    found = first(connection, _SESSION_AND_PROJECT, {"session_id": session_id})
    if found is None:
        return None, None
    project = {
        name.removeprefix(_OF_PROJECT): found.pop(name)
        for name in [*found]
        if name.startswith(_OF_PROJECT)
    }
    return found, project if project["id"] is not None else None


def _since(
    connection: Connection, session_id: str, saved: Mapping[str, Any], tasks: Sequence[Row]
) -> dict[str, Any]:
    """What the store knows now in addition to the snapshot, or without one."""
    changed = _changed_files(connection, session_id)
    return {
        "requests": _newest_requests(connection, session_id)
        or requests_of(saved["hierarchy"], session_id),
        "wave_state": {**(saved["wave_state"] or {}), **_waves(connection, session_id)},
        "active_tasks": open_now(connection, saved["active_tasks"], tasks),
        "modified_files": [*changed, *(x for x in saved["modified_files"] if x not in changed)],
    }


def _newest_requests(connection: Connection, session_id: str) -> list[Row]:
    """The newest requests of the session, oldest first."""
    return rows(connection, _ASKED, {"session_id": session_id})[::-1]


def _waves(connection: Connection, session_id: str) -> dict[str, Any]:
    """Return the waves around the current one, in the form of a saved `wave_state`."""
    found = waves.of_session(connection, session_id)
    open_ones = (at for at, one in enumerate(found) if one["status"] not in SETTLED)
    current = next(open_ones, None)
    first_shown = max(0, (len(found) if current is None else current) - WAVES_BEFORE)
    progress = {
        f"wave {one['wave_number']}": f"{one['status']}, "
        f"{one['completed_tasks']} of {one['total_tasks']} tasks done"
        for one in found[first_shown : first_shown + WAVES_SHOWN]
    }
    return (
        progress if current is None else {"current_wave": found[current]["wave_number"], **progress}
    )


def _changed_files(connection: Connection, session_id: str) -> list[str]:
    """Files that calls of the session changed, the newest first."""
    newest = connection.scalars(_EDITS, {"session_id": session_id}).all()
    paths = (path for found in newest for path in found or ())
    return list(dict.fromkeys(path for path in paths if isinstance(path, str)))


def _last_place(connection: Connection, agent_id: str) -> Row | None:
    """Find where this agent was last active: in a context, a subtask, a window, or as a session."""
    for table in (agent_contexts, subtasks, windows):
        newest = table.c.created_ms if table is subtasks else table.c.updated_ms
        query = sa.select(table.c.session_id, table.c.agent_type).where(
            table.c.agent_id == agent_id
        )
        if found := first(connection, query.order_by(newest.desc()).limit(1)):
            return found
    known = connection.scalar(sa.select(sessions.c.id).where(sessions.c.id == agent_id))
    return {"session_id": known, "agent_type": None} if known else None


def _tasks(
    connection: Connection, agent_id: str, session_id: str, wanted: KnowledgeQuery
) -> list[Row]:
    given = {"agent_id": agent_id, "session_id": session_id}
    if wanted.for_brief:
        return rows(connection, _TASKS_SHOWN, given)
    return _with_iso_times_each(rows(connection, _TASKS, given))


def _unread(
    connection: Connection, agent_id: str, project_id: str | None, now_ms: int
) -> list[Row]:
    """List unread messages without marking them: they are delivered another time."""
    given = {"agent_id": agent_id, "now_ms": now_ms}
    given |= {} if project_id is None else {"project_id": project_id}
    query = _unread_messages(is_placed=project_id is not None)
    return _with_iso_times_each(rows(connection, query, given))


@cache
def _unread_messages(*, is_placed: bool) -> sa.Select[Any]:
    place = sa.bindparam("project_id", type_=sa.Text) if is_placed else None
    is_recipient = hears(_AGENT, place, sa.bindparam("now_ms", type_=sa.BigInteger))
    query = sa.select(messages).where(is_recipient, is_undelivered(_AGENT))
    order = (messages.c.priority.desc(), messages.c.created_ms, messages.c.id)
    return query.order_by(*order).limit(MOST)


def _blockings(connection: Connection, agents: Collection[str]) -> list[Row]:
    return _with_iso_times_each(rows(connection, _BLOCKINGS, {"agents": sorted(agents)}))


def _history(connection: Connection, session_id: str, wanted: KnowledgeQuery) -> list[Row]:
    if not wanted.history or not wanted.history_limit:
        return []
    given = {"session_id": session_id, "history_limit": wanted.history_limit}
    found = rows(connection, _HISTORY, given)
    return found if wanted.for_brief else _with_iso_times_each(found)


def _with_iso_times(row: Row) -> Row:
    return _with_iso_times_each([row])[0]


def _with_iso_times_each(found: list[Row]) -> list[Row]:
    """Replace times by their public form: `created_ms` becomes `created_at`."""
    names = found[0] if found else ()
    times = {
        name: f"{name[:-3]}_at" for name in names if name.endswith("_ms") and name not in DURATIONS
    }
    rest = [name for name in names if name not in times]
    return [
        {name: row[name] for name in rest}
        | {public: row_times.to_iso(row[name]) for name, public in times.items()}
        for row in found
    ]


def _sources(snapshot: Row | None, tasks: list[Row]) -> list[dict[str, Any]]:
    found = []
    if snapshot:
        text = str(snapshot["progress_summary"] or "")[:200]
        found.append({"type": "snapshot", "id": snapshot["id"], "relevance": 1.0, "summary": text})
    for task in tasks[:10]:
        text = str(task["description"])[:200]
        found.append({"type": "subtask", "id": task["id"], "relevance": 0.8, "summary": text})
    return found

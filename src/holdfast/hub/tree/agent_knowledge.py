"""What one agent should know now: its tasks, its calls, messages to it, and who waits for whom.

Names of agents are not unique, so tasks and messages are those of the session's project, and
messages of no project. A session that is in no project gets none of any project.

Its queries are built once, when this module is loaded, and read together in two groups, because
what the second asks for depends on the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

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
    tasks,
    windows,
)
from holdfast.hub.tree import waves
from holdfast.hub.tree.agent_contexts import (
    ENDED_SINCE,
    SNAPSHOTS,
    TASK_FIELDS,
    merge_snapshots,
    open_now,
)
from holdfast.hub.tree.snapshot_form import normalize, requests_of, task_id
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
_PROJECT_ID = sa.select(sessions.c.project_id).where(sessions.c.id == _SESSION)
_SESSION_AND_PROJECT = (
    sa.select(*sessions.c, *(column.label(_OF_PROJECT + column.name) for column in projects.c))
    .select_from(sessions.outerjoin(projects))
    .where(sessions.c.id == _SESSION)
)


def _newest_open(*columns: sa.Column[Any]) -> sa.Select[Any]:
    """Build the query for open subtasks of the session, or of the agent in the session's project.
    An index orders them by status and age, so a session with a thousand open ones is not
    sorted."""
    table = subtasks.c
    newest = sa.select(table.id, table.created_ms).order_by(table.created_ms.desc()).limit(MOST)
    of_session = newest.where(table.session_id == _SESSION)
    each = [of_session.where(table.status == one).subquery() for one in sorted(OPEN)]
    here = sa.select(sessions.c.project_id).where(sessions.c.id == _SESSION).scalar_subquery()
    placed = newest.select_from(subtasks.join(tasks).join(requests))
    placed = placed.where(requests.c.project_id == here)
    of_agent = placed.where(table.agent_id == _AGENT, table.status.in_(OPEN)).subquery()
    found = sa.union(*(sa.select(one) for one in (*each, of_agent))).subquery()
    few = sa.select(found.c.id).order_by(found.c.created_ms.desc(), found.c.id).limit(MOST)
    return sa.select(*columns).where(table.id.in_(few)).order_by(table.created_ms.desc(), table.id)


def _unread_messages() -> sa.Select[Any]:
    """Build the query for unread messages. Without a project, those of no project are left."""
    project_id = sa.bindparam("project_id", type_=sa.Text)
    place = messages.c.project_id
    is_recipient = hears(_AGENT, project_id, sa.bindparam("now_ms", type_=sa.BigInteger))
    found = sa.select(messages).where(is_recipient, place.is_(None) | (place == project_id))
    order = (messages.c.priority.desc(), messages.c.created_ms, messages.c.id)
    return found.where(is_undelivered(_AGENT)).order_by(*order).limit(MOST)


_MESSAGES = _unread_messages()
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
    now = _read_session(connection, agent_id, session_id, wanted)
    saved = normalize(now.snapshot["role_context"] if now.snapshot else None)
    then = _read_related(connection, agent_id, session_id, now, saved, wanted, now_ms)
    data: dict[str, Any] = {
        "tasks": now.tasks if wanted.for_brief else _with_iso_times_each(now.tasks),
        "messages": _with_iso_times_each(then["messages"]),
        "blockings": _with_iso_times_each(then["blockings"]),
        "history": now.history if wanted.for_brief else _with_iso_times_each(now.history),
        "session": _with_iso_times(now.session) if now.session else None,
        "project": _with_iso_times(now.project) if now.project else None,
    }
    saved |= {} if wanted.messages else {"recent_messages": []}
    saved |= {} if wanted.history else {"recent_actions": []}
    saved |= _since(session_id, saved, now, then)
    sources = _sources(now.snapshot, data["tasks"])
    return KnownWork(session_id, place.get("agent_type"), data, saved, sources)


class _SessionRows(NamedTuple):
    """What the store holds of a session."""

    session: Row | None  # of a brief only its project
    project: Row | None
    snapshot: Row | None  # the newest
    tasks: list[Row]
    asked: list[Row]
    edits: list[Row]
    waves: list[Row]
    history: list[Row]


def _read_session(
    connection: Connection, agent_id: str, session_id: str, wanted: KnowledgeQuery
) -> _SessionRows:
    queries = {
        "session": _PROJECT_ID if wanted.for_brief else _SESSION_AND_PROJECT,
        "snapshot": SNAPSHOTS,
        "tasks": _TASKS_SHOWN if wanted.for_brief else _TASKS,
        "asked": _ASKED,
        "edits": _EDITS,
        "waves": waves.FIRST,
        "history": _HISTORY,
    }
    given = {"session_id": session_id, "of_session": session_id, "agent_id": agent_id}
    limit = wanted.history_limit if wanted.history else 0
    found = _read(connection, queries, {**given, "history_limit": limit})
    session, project = _split_row(found.pop("session"))
    snapshot = merge_snapshots(found.pop("snapshot"))
    return _SessionRows(session, project, snapshot, **found)


def _split_row(found: Sequence[Row]) -> tuple[Row | None, Row | None]:
    """Return the session and its project, which are read as one row."""
    if not found:
        return None, None
    session, project = {}, {}
    for name, value in found[0].items():
        if name.startswith(_OF_PROJECT):
            project[name.removeprefix(_OF_PROJECT)] = value
        else:
            session[name] = value
    return session, project if project.get("id") is not None else None


def _read_related(
    connection: Connection,
    agent_id: str,
    session_id: str,
    now: _SessionRows,
    saved: Mapping[str, Any],
    wanted: KnowledgeQuery,
    now_ms: int,
) -> dict[str, list[Row]]:
    """Read unread messages, without marking them: they are delivered another time; who waits for
    whom; saved tasks that have ended since; and the tasks of each wave."""
    project_id = now.session["project_id"] if now.session else None
    agents = {agent_id, *(row["agent_id"] for row in now.tasks if row["agent_id"])}
    named = {name for one in saved["active_tasks"] if (name := task_id(one))}
    queries = {
        "messages": _MESSAGES if wanted.messages else None,
        "blockings": _BLOCKINGS if wanted.blocking else None,
        "ended": ENDED_SINCE if named else None,
        "tallies": waves.TALLIES if now.waves else None,
    }
    given = {
        "agent_id": agent_id,
        "session_id": session_id,
        "project_id": project_id,
        "now_ms": now_ms,
        "agents": sorted(agents),
        "named": sorted(named),
    }
    return _read(connection, queries, given)


def _read(
    connection: Connection, queries: Mapping[str, sa.Select[Any] | None], given: Row
) -> dict[str, list[Row]]:
    """Read the rows of each query, by its name. `given`: the parameters of all of them."""
    return {
        name: [] if query is None else rows(connection, query, given)
        for name, query in queries.items()
    }


def _since(
    session_id: str,
    saved: Mapping[str, Any],
    now: _SessionRows,
    then: Mapping[str, Sequence[Row]],
) -> dict[str, Any]:
    """What the store knows now in addition to the snapshot, or without one."""
    changed = _changed_files(now.edits)
    known_waves = waves.with_counts(session_id, now.waves, then["tallies"])
    return {
        "requests": now.asked[::-1] or requests_of(saved["hierarchy"], session_id),
        "wave_state": {**(saved["wave_state"] or {}), **_waves(known_waves)},
        "active_tasks": open_now(saved["active_tasks"], now.tasks, then["ended"]),
        "modified_files": [*changed, *(x for x in saved["modified_files"] if x not in changed)],
    }


def _waves(found: Sequence[Row]) -> dict[str, Any]:
    """Return the waves around the current one, in the form of a saved `wave_state`."""
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


def _changed_files(edits: Sequence[Row]) -> list[str]:
    """Files that calls of the session changed, the newest first."""
    paths = (path for one in edits for path in one["file_paths"] or ())
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

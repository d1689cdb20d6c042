"""What one agent should know now: its tasks, its calls, messages to it, and who waits for whom.

Names of agents are not unique, so tasks and messages are those of the session's project, and
messages of no project. A session that is in no project gets none of any project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from holdfast.hub.board.messages import hears, is_undelivered
from holdfast.hub.errors import NotThere
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Row
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
from holdfast.hub.tree import contexts, waves
from holdfast.hub.tree.waves import ENDED, OPEN
from holdfast.text.fence import flat

MOST = 500  # rows of a kind: a brief counts what it leaves out
BLOCKER_CHARS = 60  # of the task for which a subtask waits
PRINTED_CHARS = 6_000  # of an output: its end


def _of_session() -> dict[str, sa.Select[Any]]:
    """Build the queries for what needs only the session and the agent."""
    session_id, agent_id = (
        sa.bindparam(f"{one}_id", type_=sa.Text) for one in ("session", "agent")
    )
    table, here = subtasks.c, sa.select(sessions.c.project_id).where(sessions.c.id == session_id)
    placed = sa.select(table.id).select_from(subtasks.join(tasks).join(requests))
    own = placed.where(requests.c.project_id == here.scalar_subquery(), table.agent_id == agent_id)
    mine = (table.session_id == session_id) | table.id.in_(own)
    open_ones = mine, table.status.in_(OPEN)
    ended = table.session_id == session_id, table.status.in_(ENDED)
    state = agent_contexts.c
    told = state.session_id == session_id, state.agent_type != contexts.SNAPSHOT
    asked = requests.c.session_id == session_id, requests.c.prompt != ""
    stages = sa.select(tasks).join_from(tasks, requests).where(asked[0])
    of_stage = (tasks.c.wave_number.desc(), *db.newest_first(tasks))
    queries = {
        "tasks": sa.select(subtasks).where(*open_ones).order_by(table.created_ms.desc(), table.id),
        "ended": sa.select(subtasks).where(*ended).order_by(table.completed_ms.desc(), table.id),
        "asked": sa.select(requests).where(*asked).order_by(*db.newest_first(requests)),
        "stages": stages.order_by(*db.newest_first(requests), *of_stage),
        "states": sa.select(agent_contexts).where(*told).order_by(state.updated_ms.desc()),
    }
    called = _last_calls(session_id).limit(sa.bindparam("calls", type_=sa.Integer))
    return {"history": called, **{name: query.limit(MOST) for name, query in queries.items()}}


def _last_calls(session_id: sa.ColumnElement[str]) -> sa.Select[Any]:
    """Build the query for the newest calls of the session, each with the end of its output."""
    length = sa.func.length(actions.c.output)
    start = sa.case((length > PRINTED_CHARS, length - PRINTED_CHARS), else_=0) + 1
    shown = "id tool_name tool_type exit_code file_paths input agent_id subtask_id created_ms"
    columns = (actions.c[name] for name in shown.split())
    query = sa.select(*columns, sa.func.substr(actions.c.output, start).label("output"))
    return query.where(actions.c.session_id == session_id).order_by(*db.newest_first(actions))


def _unread_messages() -> sa.Select[Any]:
    """Build the query for unread messages. Without a project, those of no project are left."""
    agent, project_id = (sa.bindparam(name, type_=sa.Text) for name in ("agent_id", "project_id"))
    place = messages.c.project_id
    is_recipient = hears(agent, project_id, sa.bindparam("now_ms", type_=sa.BigInteger))
    found = sa.select(messages).where(is_recipient, place.is_(None) | (place == project_id))
    order = (messages.c.priority.desc(), *db.newest_first(messages))
    return found.where(is_undelivered(agent)).order_by(*order).limit(MOST)


# Built once: that is most of what a restore asks.
_MESSAGES, _OF_SESSION = _unread_messages(), _of_session()


@dataclass(frozen=True, slots=True)
class KnownWork:
    """What the store holds of a session and for an agent; `saved` is the newest snapshot."""

    session_id: str
    agent_type: str | None
    rows: Mapping[str, list[Row]]
    session: Row | None
    project: Row | None
    saved: Row
    snapshot: Row | None  # that `saved` is made from
    sources: list[dict[str, Any]]

    @property
    def data(self) -> dict[str, Any]:
        """The rows as an answer shows them."""
        names = ("tasks", "messages", "blockings", "history")
        shown: Row = {name: list(map(db.with_public_times, self.rows[name])) for name in names}
        shown["session"] = db.with_public_times(self.session) if self.session else None
        shown["project"] = db.with_public_times(self.project) if self.project else None
        return shown

    @property
    def work(self) -> dict[str, Any]:
        """The same for the composer of briefs: rows, and what only the snapshot knows."""
        rows, saved = self.rows, self.saved
        dated = self.snapshot or {"summaries": {}, "saved_ms": {}}
        at_ms = dated["saved_ms"].get
        parts, states = _newest_states(saved["agent_states"], at_ms("agent_states", 0), rows)
        known = [_named(row, rows["blockers"]) for row in parts]
        ended = {row["id"] for row in rows["over"]}
        left = [task for task in saved["active_tasks"] if contexts.task_id(task) not in ended]
        left = [{"description": one} if isinstance(one, str) else one for one in left]
        asked = [db.with_public_times(row) for row in reversed(rows["asked"])]
        calls = [db.with_public_times(row) for row in reversed(rows["history"])]
        return {
            "session_id": self.session_id,
            "project": self.project["path"] if self.project else "",
            "requests": asked or contexts.requests_of(saved["hierarchy"], self.session_id),
            "actions": calls or _objects(saved["recent_actions"])[::-1],
            "summaries": [(when, words) for words, when in dated["summaries"].items()],
            "key_decisions": saved["key_decisions"],
            "modified_files": saved["modified_files"],
            "waves": waves.shown(reversed(rows["stages"])),
            "wave_state": _besides_waves(saved["wave_state"] or {}, at_ms("wave_state", 0), rows),
            "subtasks": _objects(contexts.without_repeats([*known, *left])),
            "agent_states": states,
            "recent_messages": [*_objects(saved["recent_messages"])[::-1], *rows["messages"][::-1]],
            "blocking": rows["blockings"],
        }


def find_work(
    connection: sa.Connection,
    agent_id: str,
    session_id: str | None,
    now_ms: int,
    calls: int,
    with_messages: bool = True,
    with_blocking: bool = True,
) -> KnownWork:
    """Collect what is known for an agent; raise for an unknown agent without a session."""
    place = _last_place(connection, agent_id, session_id) or {}
    session_id = session_id or place.get("session_id")
    if session_id is None:
        raise NotThere("Agent", agent_id)
    session = db.find(connection, session_id, table=sessions)
    project_id, table = session["project_id"] if session else None, subtasks.c
    project = db.find(connection, project_id, table=projects)
    given = {"session_id": session_id, "agent_id": agent_id, "calls": calls}
    found = {name: db.rows(connection, query, given) for name, query in _OF_SESSION.items()}
    snapshot = contexts.latest_snapshot(connection, session_id)
    saved = contexts.normalize(snapshot["role_context"] if snapshot else None)
    saved |= {} if with_messages else {"recent_messages": []}
    saved |= {} if calls else {"recent_actions": []}
    agents = {agent_id, *(row["agent_id"] for row in found["tasks"] if row["agent_id"])}
    waits = blockings.c.blocked_by.in_(agents) | blockings.c.blocked_agent.in_(agents)
    named = {name for task in saved["active_tasks"] if (name := contexts.task_id(task))}
    blockers = {name for row in found["tasks"] for name in row["blocked_by"] or ()}
    over = table.id.in_(named), table.status.not_in(OPEN)
    reader = {"agent_id": agent_id, "project_id": project_id, "now_ms": now_ms}
    found |= {
        "messages": db.rows(connection, _MESSAGES, reader) if with_messages else [],
        "blockings": db.fetch(connection, blockings, waits, most=MOST) if with_blocking else [],
        "over": db.fetch(connection, subtasks, *over) if named else [],
        "blockers": db.fetch(connection, subtasks, table.id.in_(blockers)) if blockers else [],
    }
    sources = _sources(snapshot, found["tasks"])
    kind = place.get("agent_type") if agent_id != session_id else None  # the main session leads
    return KnownWork(session_id, kind, found, session, project, saved, snapshot, sources)


def _objects(values: Sequence[Any]) -> list[Row]:
    """Return the objects of a list that a client saved, which may hold anything."""
    return [value for value in values if isinstance(value, dict)]


def _besides_waves(state: Row, saved_ms: int, found: Mapping[str, list[Row]]) -> Row:
    """Return a saved state of waves; where rows of the work are newer, only its words beside."""
    work = [*found["stages"], *found["tasks"], *found["ended"]]
    if not found["stages"] or saved_ms > max(map(_changed_ms, work)):
        return state
    words = ((name, value) for name, value in state.items() if isinstance(value, str))
    return {name: value for name, value in words if not name.startswith(("current", "wave"))}


def _changed_ms(row: Row) -> int:
    names = ("updated_ms", "completed_ms", "started_ms", "created_ms")
    return max(row.get(name) or 0 for name in names)


def _newest_states(
    saved: Sequence[Any], saved_ms: int, found: Mapping[str, list[Row]]
) -> tuple[list[Row], list[Row]]:
    """Return the subtasks and the states of agents, each agent with its newest status: what a
    client saved may be older or newer than the rows."""
    parts = [*found["tasks"], *found["ended"]]
    told = [(_changed_ms(row), row) for row in found["states"]]
    told += [(saved_ms, {**state, "saved": True}) for state in _objects(saved)]
    known = [(_changed_ms(row), row) for row in parts if row["status"] != "pending"]
    states: dict[str, Row] = {}
    for _, row in sorted(told, key=lambda pair: -pair[0]):
        states[_agent(row)] = {**row, **states.get(_agent(row), {})}
    known = sorted((*told[::-1], *known), key=lambda pair: pair[0])
    newest = {_agent(row): row for _, row in known if isinstance(row.get("status"), str)}
    for name, state in states.items():
        state["status"] = newest.get(name, state).get("status")
    parts = [
        {**row, "status": newest[_agent(row)]["status"], "completed_ms": saved_ms}
        if row["status"] in waves.UNDER_WAY and newest[_agent(row)].get("saved")
        else row
        for row in parts
    ]
    return parts, list(states.values())


def _agent(row: Row) -> str:
    return str(row.get("agent_id") or id(row))


def _named(row: Row, blockers: Sequence[Row]) -> Row:
    """Return a subtask in which those that it waits for are named by agent and task."""
    known = {blocker["id"]: blocker for blocker in blockers}
    waits = [known[name] for name in row["blocked_by"] or () if name in known]
    named = [
        f"{wait['agent_id'] or wait['agent_type'] or 'subtask'} "
        f"({wait['status']}: {flat(wait['description'] or '', BLOCKER_CHARS)})"
        for wait in waits
    ]
    return {**row, "blocked_by": named}


def _last_place(connection: sa.Connection, agent_id: str, session_id: str | None) -> Row | None:
    """Find where this agent was last active: in a context, a subtask, a window, or as a session."""
    for table in (agent_contexts, subtasks, windows):
        newest = table.c.created_ms if table is subtasks else table.c.updated_ms
        mine = db.matching(table, agent_id=agent_id, session_id=session_id)
        query = sa.select(table.c.session_id, table.c.agent_type).where(*mine)
        if row := db.first(connection, query.order_by(newest.desc()).limit(1)):
            return row
    known = connection.scalar(sa.select(sessions.c.id).where(sessions.c.id == agent_id))
    return {"session_id": known, "agent_type": None} if known else None


def _sources(snapshot: Row | None, tasks: list[Row]) -> list[dict[str, Any]]:
    known = [snapshot] if snapshot else []
    told = [("snapshot", 1.0, row["id"], row["progress_summary"]) for row in known]
    told += [("subtask", 0.8, row["id"], row["description"]) for row in tasks[:10]]
    return [
        {"type": kind, "id": row_id, "relevance": worth, "summary": str(words or "")[:200]}
        for kind, worth, row_id, words in told
    ]

"""Projects and sessions, there from the first record of them, and their actions: one row per call,
whoever reports it. Times are brought up to date, and each call is counted once in the session's
totals.

For actions read from transcripts; those sent over HTTP are written by `tree/actions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import ActionDone, CheckpointTaken, Deed, ProjectMet, SessionMet
from holdfast.hub.ingest.writers import contexts
from holdfast.hub.ingest.writers.row_cache import Shelf
from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, first, put_new
from holdfast.hub.store.tables import actions, projects, sessions, subtasks
from holdfast.hub.tree.actions import keywords
from holdfast.hub.tree.totals import add_calls, place_calls


def meet(connection: Connection, deeds: Iterable[Deed]) -> None:
    """Rows others lean on, made where missing; several sources may speak of one at once."""
    for deed in deeds:
        if isinstance(deed, ProjectMet):
            _meet_project(connection, deed.id, deed.path, deed.first_ms)
        elif isinstance(deed, CheckpointTaken):
            _meet_project(connection, deed.project_id, deed.path, deed.at_ms)
        elif isinstance(deed, SessionMet):
            _meet_session(connection, deed)


def _meet_project(connection: Connection, project_id: str, path: str, at_ms: int) -> None:
    row: Row = {
        "id": project_id,
        "path": path,
        "name": path.rstrip("/").rpartition("/")[2][:200] or None,
        "metadata": {},
        "created_ms": at_ms,
        "updated_ms": at_ms,
    }
    if put_new(connection, projects, row):
        pending_writes.count(connection, "projects")
        pending_writes.announce(
            connection, "project.created", {"path": path}, project_id=project_id
        )


def _meet_session(connection: Connection, deed: SessionMet) -> None:
    row: Row = {
        "id": deed.id,
        "project_id": deed.project_id,
        "started_ms": deed.first_ms,
        "seen_ms": deed.last_ms,
        "total_tools_used": 0,
    }
    if put_new(connection, sessions, row):
        pending_writes.count(connection, "sessions")
        _tell(connection, "session.started", deed)


def bring_on(connection: Connection, deeds: Iterable[Deed], totals: Counter[str]) -> None:
    """Last of all, for others wait for these rows. `key_share`: a row that was just written below
    one of them holds its key, and two that wanted the whole row would wait for each other."""
    told = list(deeds)
    for deed in (one for one in told if isinstance(one, ProjectMet)):
        _bring_project_on(connection, deed)
    for met in (one for one in told if isinstance(one, SessionMet)):
        _bring_session_on(connection, met, totals)
        totals = Counter()


def _bring_project_on(connection: Connection, deed: ProjectMet) -> None:
    mine = projects.c.id == deed.id
    row = first(connection, sa.select(projects).where(mine).with_for_update(key_share=True))
    if row is None:
        return
    changes: Row = {
        "created_ms": min(row["created_ms"], deed.first_ms),
        "updated_ms": max(row["updated_ms"], deed.last_ms),
    }
    if ids.project_id(deed.path) == deed.id:  # one that was lost with a damaged file has none
        changes["path"] = ids.tidy(deed.path)
    connection.execute(sa.update(projects).where(mine).values(changes))


def _bring_session_on(connection: Connection, deed: SessionMet, totals: Counter[str]) -> None:
    mine = sessions.c.id == deed.id
    row = first(connection, sa.select(sessions).where(mine).with_for_update(key_share=True))
    if row is None:
        return
    ended = _ended(row["ended_ms"], deed)
    changes: dict[str, Any] = {
        "project_id": row["project_id"] or deed.project_id,
        "started_ms": min(row["started_ms"], deed.first_ms),
        "seen_ms": max(row["seen_ms"] or 0, deed.last_ms),
        "ended_ms": ended,
        **{name: (row[name] or 0) + more for name, more in totals.items() if more},
    }
    connection.execute(sa.update(sessions).where(mine).values(changes))
    if row["project_id"] is None:
        _place_actions(connection, deed)
    if (ended is None) != (row["ended_ms"] is None):
        contexts.end_session(connection, deed.id, ended is not None)
        _tell(connection, "session.changed" if ended is None else "session.ended", deed)


def _ended(before: int | None, deed: SessionMet) -> int | None:
    if deed.ended_ms > (before or 0):
        before = deed.ended_ms
    return None if before is not None and deed.opened_ms > before else before


def _place_actions(connection: Connection, deed: SessionMet) -> None:
    """What was told through the API before anybody knew where the session works."""
    homeless = (actions.c.session_id == deed.id) & actions.c.project_id.is_(None)
    place_calls(connection, homeless, deed.project_id)


def _tell(connection: Connection, kind: str, deed: SessionMet) -> None:
    pending_writes.announce(connection, kind, {}, project_id=deed.project_id, session_id=deed.id)


class Actions:
    def __init__(self, connection: Connection, deeds: Iterable[Deed]) -> None:
        told = [deed for deed in deeds if isinstance(deed, ActionDone)]
        self._connection = connection
        self._shelf = Shelf(connection, actions, (deed.id for deed in told))
        self._subtasks = self._known({(d.session_id, d.agent_id) for d in told if d.agent_id})

    def _known(self, agents: set[tuple[str, str]]) -> set[str]:
        found = {ids.subtask_id(*agent) for agent in agents}
        if not found:
            return set()
        query = sa.select(subtasks.c.id).where(subtasks.c.id.in_(found))
        return set(self._connection.execute(query).scalars())

    def apply(self, deed: ActionDone) -> None:
        row = self._shelf.get(deed.id)
        if row is None:
            self._shelf.put(self._new(deed))
            return
        row["project_id"] = row["project_id"] or deed.project_id
        if deed.told_by == "hook":
            if deed.duration_ms is not None:
                row["duration_ms"] = deed.duration_ms
        else:
            row |= _told(deed)
            if row["duration_ms"] is None:
                row["duration_ms"] = deed.duration_ms

    def _new(self, deed: ActionDone) -> Row:
        subtask = ids.subtask_id(deed.session_id, deed.agent_id) if deed.agent_id else ""
        return {
            "id": deed.id,
            "session_id": deed.session_id,
            "project_id": deed.project_id,
            "agent_id": deed.agent_id or None,
            "subtask_id": subtask if subtask in self._subtasks else None,
            **_told(deed),
            "output": None,
            "duration_ms": deed.duration_ms,
        }

    def flush(self) -> tuple[list[Row], Counter[str], Counter[tuple[str, str, str]]]:
        """(those added, changes of the session's totals, changes of (session, agent, tool))."""
        totals: Counter[str] = Counter()
        tools: Counter[tuple[str, str, str]] = Counter()
        for row in (*self._shelf.added, *self._shelf.changed):
            before = self._shelf.before(row["id"])
            for sign, one in ((1, row), (-1, before)):
                if one is not None:
                    _tally(totals, one, sign)
                    add_calls(self._connection, one, sign)
                    tools[one["session_id"], one["agent_id"] or "", one["tool_name"]] += sign
        added, _ = self._shelf.flush()
        return added, totals, tools


def _told(deed: ActionDone) -> Row:
    return {
        "tool_name": deed.tool_name,
        "tool_type": deed.tool_type,
        "input": deed.input or None,
        "exit_code": deed.exit_code,
        "file_paths": list(deed.file_paths),
        "created_ms": deed.at_ms,
        "keywords": keywords(deed.input, deed.file_paths),
    }


def _tally(totals: Counter[str], row: Row, sign: int) -> None:
    totals["total_tools_used"] += sign
    totals["total_success" if row["exit_code"] == 0 else "total_errors"] += sign
    if row["duration_ms"] is not None:
        totals["total_duration_ms"] += sign * row["duration_ms"]
        totals["timed_actions"] += sign

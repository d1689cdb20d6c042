"""Actions: one row per call, whoever tells of it; and the session's totals, each counted once.

For actions read from transcripts; those sent over HTTP are written by `tree/actions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import ActionDone, Deed
from holdfast.hub.ingest.writers.row_cache import Shelf
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import actions, subtasks
from holdfast.hub.tree.actions import keywords
from holdfast.hub.tree.totals import add_calls


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

"""Write tool calls as actions: one row per call, whether the hook or the transcript reports it.
Each call counts once in the session's totals.

This module writes actions read from hooks and transcripts; `tree/actions` writes those sent over
HTTP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.ingest.records import RecordedAction, RecordedEvent
from holdfast.hub.store.rows import Row, RowCache
from holdfast.hub.store.tables import actions, subtasks
from holdfast.hub.tree.actions import keywords


class Actions:
    """The actions of one batch: `apply` each record, then `flush`."""

    def __init__(self, connection: Connection, records: Iterable[RecordedEvent]) -> None:
        calls = [record for record in records if isinstance(record, RecordedAction)]
        self._connection = connection
        self._cache = RowCache(connection, actions, (record.id for record in calls))
        self._subtasks = self._known({(d.session_id, d.agent_id) for d in calls if d.agent_id})

    def _known(self, agents: set[tuple[str, str]]) -> set[str]:
        found = {ids.subtask_id(*agent) for agent in agents}
        if not found:
            return set()
        query = sa.select(subtasks.c.id).where(subtasks.c.id.in_(found))
        return set(self._connection.execute(query).scalars())

    def apply(self, record: RecordedAction) -> None:
        row = self._cache.get(record.id)
        if row is None:
            self._cache.put(self._new(record))
            return
        row["project_id"] = row["project_id"] or record.project_id
        if record.reported_by == "hook":
            if record.duration_ms is not None:
                row["duration_ms"] = record.duration_ms
        else:
            row |= _columns(record)
            if row["duration_ms"] is None:
                row["duration_ms"] = record.duration_ms

    def _new(self, record: RecordedAction) -> Row:
        subtask = ids.subtask_id(record.session_id, record.agent_id) if record.agent_id else ""
        return {
            "id": record.id,
            "session_id": record.session_id,
            "project_id": record.project_id,
            "agent_id": record.agent_id or None,
            "subtask_id": subtask if subtask in self._subtasks else None,
            **_columns(record),
            "output": None,
            "duration_ms": record.duration_ms,
        }

    def flush(self) -> tuple[list[Row], Counter[str], Counter[tuple[str, str, str]]]:
        """Write the rows; return those added, and the changes of the session's totals and of the
        counts by (session, agent, tool)."""
        totals: Counter[str] = Counter()
        tools: Counter[tuple[str, str, str]] = Counter()
        for row in (*self._cache.added, *self._cache.changed):
            before = self._cache.before(row["id"])
            for sign, version in ((1, row), (-1, before)):
                if version is not None:
                    _tally(totals, version, sign)
                    agent_id = version["agent_id"] or ""
                    tools[version["session_id"], agent_id, version["tool_name"]] += sign
        added, _ = self._cache.flush()
        return added, totals, tools


def _columns(record: RecordedAction) -> Row:
    return {
        "tool_name": record.tool_name,
        "tool_type": record.tool_type,
        "input": record.input or None,
        "exit_code": record.exit_code,
        "file_paths": list(record.file_paths),
        "created_ms": record.at_ms,
        "keywords": keywords(record.input, record.file_paths),
    }


def _tally(totals: Counter[str], row: Row, sign: int) -> None:
    totals["total_tools_used"] += sign
    totals["total_success" if row["exit_code"] == 0 else "total_errors"] += sign
    if row["duration_ms"] is not None:
        totals["total_duration_ms"] += sign * row["duration_ms"]
        totals["timed_actions"] += sign

"""Agent contexts, windows, the audit log, and checkpoints as snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.ingest.records import (
    RecordedAuditLine,
    RecordedCheckpoint,
    RecordedCompaction,
    RecordedContext,
    RecordedEvent,
    RecordedReadings,
    RecordedWindow,
)
from holdfast.hub.store.rows import Row, RowCache, first, put, upsert
from holdfast.hub.store.tables import agent_contexts, audit, sessions, subtasks, windows
from holdfast.hub.tree import capacity, compactions, readings
from holdfast.hub.tree.agent_contexts import SNAPSHOT

MOST_SKILLS = 50
MOST_TOOLS = 200


def write_contexts(
    connection: Connection,
    records: Iterable[RecordedEvent],
    tools: Counter[tuple[str, str, str]],
    subtask_rows: Iterable[Row],
) -> None:
    """Update what each agent used; its status is that of its subtask."""
    contexts = [record for record in records if isinstance(record, RecordedContext)]
    by_agent = {row["agent_id"]: row for row in subtask_rows if row["agent_id"]}
    context_ids = {record.id for record in contexts}
    context_ids |= {ids.context_id(row["session_id"], row["agent_id"]) for row in by_agent.values()}
    cache = RowCache(connection, agent_contexts, context_ids)
    for record in contexts:
        _update_context(connection, cache, record)
    for row in by_agent.values():
        context = cache.get(ids.context_id(row["session_id"], row["agent_id"]))
        if context is not None:
            context["status"] = row["status"]
    for (session_id, agent_id, tool), more in tools.items():
        context = cache.get(ids.context_id(session_id, agent_id))
        if context is not None and more:
            _count(context, tool, more)
    cache.flush()


def _update_context(connection: Connection, cache: RowCache, record: RecordedContext) -> None:
    row = cache.get(record.id)
    if row is None:
        row = cache.put(
            {
                "id": record.id,
                "project_id": record.project_id,
                "agent_id": record.agent_id,
                "agent_type": record.agent_type,
                "session_id": record.session_id,
                "status": _status(connection, record),
                "role_context": {"tool_counts": {}},
                "skills_to_restore": [],
                "tools_used": [],
                "progress_summary": None,
                "compact_id": None,
                "updated_ms": record.at_ms,
            }
        )
    known = [skill for skill in row["skills_to_restore"] or [] if skill not in record.skills]
    used = list(dict.fromkeys(reversed(record.skills)))[::-1]
    row["skills_to_restore"] = [*known, *used][-MOST_SKILLS:]
    row["progress_summary"] = record.progress_summary or row["progress_summary"]
    row["updated_ms"] = max(row["updated_ms"], record.at_ms)


def _status(connection: Connection, record: RecordedContext) -> str:
    if record.subtask_id:
        query = sa.select(subtasks.c.status).where(subtasks.c.id == record.subtask_id)
        return connection.scalar(query) or "running"
    ended = sa.select(sessions.c.ended_ms).where(sessions.c.id == record.session_id)
    return "running" if connection.scalar(ended) is None else "completed"


def _count(row: Row, tool: str, more: int) -> None:
    """Count a tool's calls and list the tools, the most used first."""
    role = dict(row["role_context"] or {})
    counts = {**role.get("tool_counts", {})}
    counts[tool] = counts.get(tool, 0) + more
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kept = {name: n for name, n in ranked[:MOST_TOOLS] if n > 0}
    row["role_context"] = {**role, "tool_counts": kept}
    row["tools_used"] = list(kept)


def end_session(connection: Connection, session_id: str, ended: bool) -> None:
    """The session itself is an agent too."""
    mine = agent_contexts.c.id == ids.context_id(session_id, "")
    status = "completed" if ended else "running"
    connection.execute(sa.update(agent_contexts).where(mine).values(status=status))


def write_window(connection: Connection, record: RecordedWindow) -> None:
    """Store the newest health of a window; a time in the future counts as now."""
    at_ms = min(record.at_ms, row_times.now_ms())
    row = {
        "session_id": record.session_id,
        "agent_id": record.agent_id,
        "project_id": record.project_id,
        "agent_type": record.agent_type or None,
        "health": record.health,
        "used_tokens": record.used_tokens,
        "updated_ms": at_ms,
    }
    before = first(connection, _WINDOW, _names(record))
    if before is None or before["health"] is None or before["updated_ms"] <= at_ms:
        put(connection, windows, ("session_id", "agent_id"), row)
        capacity.announce(connection, row)


def write_compaction(connection: Connection, record: RecordedCompaction) -> None:
    """Record a compaction of the window, and of the session if it is the main window."""
    compactions.add(
        connection,
        {
            "session_id": record.session_id,
            "agent_id": record.agent_id,
            "number": record.count,
            "project_id": record.project_id,
            "at_ms": record.at_ms,
            "step": record.step or None,
            "trigger": record.trigger or None,
            "before_tokens": record.before_tokens or None,
            "after_tokens": record.after_tokens or None,
        },
    )
    freed = {"compact_count": record.count, "compacted_ms": record.at_ms}
    window = {
        "session_id": record.session_id,
        "agent_id": record.agent_id,
        "project_id": record.project_id,
        "used_tokens": 0,
        "updated_ms": record.at_ms,
        **freed,
    }
    before = first(connection, _WINDOW, _names(record))
    if before is None or _is_newer(record, before):
        keys = ["session_id", "agent_id"]
        connection.execute(upsert(connection, windows, keys, window, freed))
    if record.agent_id:
        return
    mine = sessions.c.id == record.session_id
    session = first(connection, sa.select(sessions).where(mine).with_for_update(key_share=True))
    if session is not None and _is_newer(record, session):
        summary = {"compact_summary": record.summary} if record.summary else {}
        connection.execute(sa.update(sessions).where(mine).values({**freed, **summary}))


def write_readings(connection: Connection, record: RecordedReadings) -> None:
    points = zip(record.step, record.at_ms, record.used_tokens, strict=True)
    limit_tokens = record.limit_tokens or None
    readings.add(connection, record.session_id, record.agent_id, points, limit_tokens)


def _is_newer(record: RecordedCompaction, row: Row) -> bool:
    """The summary comes after its boundary, perhaps in the same millisecond."""
    return (record.count, record.at_ms) >= (row["compact_count"] or 0, row["compacted_ms"] or 0)


_WINDOW = (
    sa.select(windows)
    .where(
        windows.c.session_id == sa.bindparam("session"), windows.c.agent_id == sa.bindparam("agent")
    )
    .with_for_update(key_share=True)
)


def _names(record: RecordedWindow | RecordedCompaction) -> dict[str, str]:
    return {"session": record.session_id, "agent": record.agent_id}


def write_audit(connection: Connection, records: Iterable[RecordedEvent]) -> list[Row]:
    """Write audit lines and return the new ones."""
    lines = [record for record in records if isinstance(record, RecordedAuditLine)]
    cache = RowCache(connection, audit, (record.id for record in lines))
    for record in lines:
        cache.put(
            {
                "id": record.id,
                "kind": record.kind,
                "session_id": record.session_id or None,
                "agent_id": record.agent_id or None,
                "body": record.body,
                "at_ms": record.at_ms,
            }
        )
    return cache.flush()[0]


def write_checkpoints(connection: Connection, records: Iterable[RecordedEvent]) -> list[Row]:
    """Save checkpoints as the API does; a known one stays as it is."""
    checkpoints = [record for record in records if isinstance(record, RecordedCheckpoint)]
    cache = RowCache(connection, agent_contexts, (record.id for record in checkpoints))
    for record in checkpoints:
        if cache.get(record.id) is None:
            cache.put(
                {
                    "id": record.id,
                    "project_id": record.project_id,
                    "agent_id": f"{SNAPSHOT}-{record.session_id}-{record.at_ms}",
                    "agent_type": SNAPSHOT,
                    "session_id": record.session_id,
                    "status": "completed",
                    "role_context": record.snapshot,
                    "skills_to_restore": [],
                    "tools_used": [],
                    "progress_summary": record.summary or None,
                    "compact_id": record.checkpoint_id,
                    "updated_ms": record.at_ms,
                }
            )
    return cache.flush()[0]

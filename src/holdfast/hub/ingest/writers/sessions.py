"""Write projects and sessions from their first record on, and keep their times up to date.

Also written here is what belongs to a session: agent contexts, windows, the audit log, and
checkpoints as snapshots.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.ingest.records import (
    UNKNOWN_AGENT,
    RecordedAuditLine,
    RecordedCheckpoint,
    RecordedCompaction,
    RecordedContext,
    RecordedEvent,
    RecordedProject,
    RecordedReadings,
    RecordedSession,
    RecordedWindow,
)
from holdfast.hub.store.rows import Row, RowCache, announce, first, pick, put, put_new, upsert
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    audit,
    projects,
    sessions,
    subtasks,
    windows,
)
from holdfast.hub.tree import readings
from holdfast.hub.tree.contexts import SNAPSHOT, add_skills, count_tool
from holdfast.hub.tree.sessions import project_name


def create_missing(connection: Connection, records: Iterable[RecordedEvent]) -> None:
    """Create the rows that others refer to; several sources may report the same one at once."""
    for record in records:
        if isinstance(record, RecordedProject):
            _create_project(connection, record.id, record.path, record.first_ms)
        elif isinstance(record, RecordedCheckpoint):
            _create_project(connection, record.project_id, record.path, record.at_ms)
        elif isinstance(record, RecordedSession):
            _create_session(connection, record)


def _create_project(connection: Connection, project_id: str, path: str, at_ms: int) -> None:
    row: Row = {
        "id": project_id,
        "path": path,
        "name": project_name(path),
        "metadata": {},
        "created_ms": at_ms,
        "updated_ms": at_ms,
    }
    if put_new(connection, projects, row):
        announce(connection, "project.created", {"path": path}, project_id=project_id)


def _create_session(connection: Connection, record: RecordedSession) -> None:
    row: Row = {
        **pick(record, "id", "project_id"),
        "started_ms": record.first_ms,
        "seen_ms": record.last_ms,
        "total_tools_used": 0,
    }
    if put_new(connection, sessions, row):
        _announce(connection, "session.started", record)


def update_times(
    connection: Connection, records: Iterable[RecordedEvent], totals: Counter[str]
) -> None:
    """Update the times of projects and sessions, last, because other writers wait for these rows.

    `key_share`: a child row that was just written locks its parent's key; two transactions that
    locked the whole parent row would deadlock.
    """
    records = list(records)
    for project in (record for record in records if isinstance(record, RecordedProject)):
        _update_project(connection, project)
    for session in (record for record in records if isinstance(record, RecordedSession)):
        _update_session(connection, session, totals)
        totals = Counter()


def _update_project(connection: Connection, record: RecordedProject) -> None:
    row = _locked(connection, projects, record.id)
    if row is None:
        return
    changes: Row = {
        "created_ms": min(row["created_ms"], record.first_ms),
        "updated_ms": max(row["updated_ms"], record.last_ms),
    }
    if ids.project_id(record.path) == record.id:  # a project recovered from a damaged file has none
        changes["path"] = ids.tidy(record.path)
        changes["name"] = row["name"] or project_name(
            record.path
        )  # one posted by a client may have none
    _change(connection, projects, row, changes)


def _locked(connection: Connection, table: sa.Table, row_id: str) -> Row | None:
    query = sa.select(table).where(table.c.id == row_id).with_for_update(key_share=True)
    return first(connection, query)


def _change(connection: Connection, table: sa.Table, row: Row, changes: Row) -> None:
    """Set what differs."""
    new = {name: value for name, value in changes.items() if row[name] != value}
    if new:
        connection.execute(sa.update(table).where(table.c.id == row["id"]).values(new))


def _update_session(connection: Connection, record: RecordedSession, totals: Counter[str]) -> None:
    row = _locked(connection, sessions, record.id)
    if row is None:
        return
    ended = _end_ms(row["ended_ms"], record)
    changes: dict[str, Any] = {
        "project_id": row["project_id"] or record.project_id,
        "started_ms": min(row["started_ms"], record.first_ms),
        "seen_ms": max(row["seen_ms"] or 0, record.last_ms),
        "ended_ms": ended,
        **{name: (row[name] or 0) + more for name, more in totals.items() if more},
    }
    _change(connection, sessions, row, changes)
    if row["project_id"] is None:
        _place_actions(connection, record)
    if (ended is None) != (row["ended_ms"] is None):
        end_session(connection, record.id, ended is not None)
        _announce(connection, "session.changed" if ended is None else "session.ended", record)


def _end_ms(before: int | None, record: RecordedSession) -> int | None:
    if record.ended_ms > (before or 0):
        before = record.ended_ms
    return None if before is not None and record.opened_ms > before else before


def _place_actions(connection: Connection, record: RecordedSession) -> None:
    """Set the project of actions that were posted before it was known."""
    unplaced = (actions.c.session_id == record.id) & actions.c.project_id.is_(None)
    connection.execute(sa.update(actions).where(unplaced).values(project_id=record.project_id))


def _announce(connection: Connection, kind: str, record: RecordedSession) -> None:
    announce(connection, kind, {}, project_id=record.project_id, session_id=record.id)


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
            context |= count_tool(context, tool, more)
    cache.flush()


def _update_context(connection: Connection, cache: RowCache, record: RecordedContext) -> None:
    row = cache.get(record.id)
    if row is None:
        row = cache.put(
            {
                **pick(record, "id", "project_id", "agent_id", "agent_type", "session_id"),
                "status": _status(connection, record),
                "role_context": {"tool_counts": {}},
                "skills_to_restore": [],
                "tools_used": [],
                "updated_ms": record.at_ms,
            }
        )
    if row["agent_type"] == UNKNOWN_AGENT:  # its first hook was ended before it noted its kind
        row["agent_type"] = record.agent_type
    row["skills_to_restore"] = add_skills(row, record.skills)
    row["progress_summary"] = record.progress_summary or row["progress_summary"]
    row["updated_ms"] = max(row["updated_ms"], record.at_ms)


def _status(connection: Connection, record: RecordedContext) -> str:
    if record.subtask_id:
        query = sa.select(subtasks.c.status).where(subtasks.c.id == record.subtask_id)
        return connection.scalar(query) or "running"
    ended = sa.select(sessions.c.ended_ms).where(sessions.c.id == record.session_id)
    return "running" if connection.scalar(ended) is None else "completed"


def end_session(connection: Connection, session_id: str, ended: bool) -> None:
    """The session itself is an agent too."""
    mine = agent_contexts.c.id == ids.context_id(session_id, "")
    status = "completed" if ended else "running"
    connection.execute(sa.update(agent_contexts).where(mine).values(status=status))


def write_window(connection: Connection, record: RecordedWindow) -> None:
    """Store the newest health of a window; a time in the future counts as now. A row from the
    future was written before the clock was set back, and is replaced."""
    now_ms = row_times.now_ms()
    at_ms = min(record.at_ms, now_ms)
    row = {
        **pick(record, "session_id", "agent_id", "project_id", "health", "used_tokens"),
        "agent_type": record.agent_type or None,
        "updated_ms": at_ms,
    }
    before = _window(connection, record)
    if before is None or before["health"] is None or not at_ms < before["updated_ms"] <= now_ms:
        put(connection, windows, ("session_id", "agent_id"), row)
        readings.announce_window(connection, row)
    if limit := record.health.get("edge_tokens"):
        readings.note_limit(connection, record.session_id, record.agent_id, limit)


def write_compaction(connection: Connection, record: RecordedCompaction) -> None:
    """Record a compaction of the window, and of the session if it is the main window."""
    readings.add_compaction(
        connection,
        {
            **pick(record, "session_id", "agent_id", "project_id", "at_ms"),
            "number": record.count,
            "step": record.step or None,
            "trigger": record.trigger or None,
            "before_tokens": record.before_tokens or None,
            "after_tokens": record.after_tokens or None,
        },
    )
    freed = {"compact_count": record.count, "compacted_ms": record.at_ms}
    window = {
        **pick(record, "session_id", "agent_id", "project_id"),
        "used_tokens": 0,
        "updated_ms": record.at_ms,
        **freed,
    }
    before = _window(connection, record)
    if before is None or _is_newer(record, before):
        keys = ["session_id", "agent_id"]
        connection.execute(upsert(connection, windows, keys, window, freed))
    if record.agent_id:
        return
    mine = sessions.c.id == record.session_id
    session = _locked(connection, sessions, record.session_id)
    if session is not None and _is_newer(record, session):
        summary = {"compact_summary": record.summary} if record.summary else {}
        connection.execute(sa.update(sessions).where(mine).values({**freed, **summary}))


def write_readings(connection: Connection, record: RecordedReadings) -> None:
    points = zip(record.step, record.at_ms, record.used_tokens, strict=True)
    limit_tokens = record.limit_tokens or None
    readings.add(connection, record.session_id, record.agent_id, points, limit_tokens)


OF_WINDOWS: dict[type, Callable[[Connection, Any], None]] = {
    RecordedWindow: write_window,
    RecordedCompaction: write_compaction,
    RecordedReadings: write_readings,
}


def _is_newer(record: RecordedCompaction, row: Row) -> bool:
    """The summary comes after its boundary, perhaps in the same millisecond."""
    return (record.count, record.at_ms) >= (row["compact_count"] or 0, row["compacted_ms"] or 0)


def _window(connection: Connection, record: RecordedWindow | RecordedCompaction) -> Row | None:
    of_agent = windows.c.session_id == record.session_id, windows.c.agent_id == record.agent_id
    query = sa.select(windows).where(*of_agent).with_for_update(key_share=True)
    return first(connection, query)


def write_audit(connection: Connection, records: Iterable[RecordedEvent]) -> list[Row]:
    """Write audit lines and return the new ones."""
    lines = [record for record in records if isinstance(record, RecordedAuditLine)]
    cache = RowCache(connection, audit, (record.id for record in lines))
    for record in lines:
        cache.put(
            {
                **pick(record, "id", "kind", "body", "at_ms"),
                "session_id": record.session_id or None,
                "agent_id": record.agent_id or None,
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
                    **pick(record, "id", "project_id", "session_id"),
                    "agent_id": f"{SNAPSHOT}-{record.session_id}-{record.at_ms}",
                    "agent_type": SNAPSHOT,
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

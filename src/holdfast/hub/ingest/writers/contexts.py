"""Agent contexts, windows, the audit log, and checkpoints as snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, row_times
from holdfast.hub.ingest.records import (
    AuditLine,
    CheckpointTaken,
    Compacted,
    ContextSeen,
    Deed,
    ReadingsTold,
    WindowSeen,
)
from holdfast.hub.ingest.writers.row_cache import Shelf
from holdfast.hub.store.rows import Row, first, upsert
from holdfast.hub.store.tables import agent_contexts, audit, sessions, subtasks, windows
from holdfast.hub.tree import capacity, compactions, readings
from holdfast.hub.tree.agent_contexts import SNAPSHOT

MOST_SKILLS = 50
MOST_TOOLS = 200


def take_contexts(
    connection: Connection,
    deeds: Iterable[Deed],
    tools: Counter[tuple[str, str, str]],
    subtasks_told: Iterable[Row],
) -> None:
    """What each agent used and how it stands; its status is its subtask's."""
    seen = [deed for deed in deeds if isinstance(deed, ContextSeen)]
    stand = {row["agent_id"]: row for row in subtasks_told if row["agent_id"]}
    context_ids = {deed.id for deed in seen}
    context_ids |= {ids.context_id(row["session_id"], row["agent_id"]) for row in stand.values()}
    shelf = Shelf(connection, agent_contexts, context_ids)
    for deed in seen:
        _see(connection, shelf, deed)
    for row in stand.values():
        context = shelf.get(ids.context_id(row["session_id"], row["agent_id"]))
        if context is not None:
            context["status"] = row["status"]
    for (session_id, agent_id, tool), more in tools.items():
        context = shelf.get(ids.context_id(session_id, agent_id))
        if context is not None and more:
            _count(context, tool, more)
    shelf.flush()


def _see(connection: Connection, shelf: Shelf, deed: ContextSeen) -> None:
    row = shelf.get(deed.id)
    if row is None:
        row = shelf.put(
            {
                "id": deed.id,
                "project_id": deed.project_id,
                "agent_id": deed.agent_id,
                "agent_type": deed.agent_type,
                "session_id": deed.session_id,
                "status": _status(connection, deed),
                "role_context": {"tool_counts": {}},
                "skills_to_restore": [],
                "tools_used": [],
                "progress_summary": None,
                "compact_id": None,
                "updated_ms": deed.at_ms,
            }
        )
    known = [skill for skill in row["skills_to_restore"] or [] if skill not in deed.skills]
    used = list(dict.fromkeys(reversed(deed.skills)))[::-1]
    row["skills_to_restore"] = [*known, *used][-MOST_SKILLS:]
    row["progress_summary"] = deed.progress_summary or row["progress_summary"]
    row["updated_ms"] = max(row["updated_ms"], deed.at_ms)


def _status(connection: Connection, deed: ContextSeen) -> str:
    if deed.subtask_id:
        query = sa.select(subtasks.c.status).where(subtasks.c.id == deed.subtask_id)
        return connection.scalar(query) or "running"
    ended = sa.select(sessions.c.ended_ms).where(sessions.c.id == deed.session_id)
    return "running" if connection.scalar(ended) is None else "completed"


def _count(row: Row, tool: str, more: int) -> None:
    """How often each tool was called, and which were, the most used first."""
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


def take_window(connection: Connection, deed: WindowSeen) -> None:
    """The newest health of a window stands; a clock that is ahead makes nothing newer than now."""
    at_ms = min(deed.at_ms, row_times.now_ms())
    row = {
        "session_id": deed.session_id,
        "agent_id": deed.agent_id,
        "project_id": deed.project_id,
        "agent_type": deed.agent_type or None,
        "health": deed.health,
        "used_tokens": deed.used_tokens,
        "updated_ms": at_ms,
    }
    before = first(connection, _window_of(deed).with_for_update(key_share=True))
    if before is None or before["health"] is None or before["updated_ms"] <= at_ms:
        connection.execute(upsert(connection, windows, ["session_id", "agent_id"], row))
        capacity.announce(connection, row)


def take_compaction(connection: Connection, deed: Compacted) -> None:
    """How often so far, and when last: of the window, and of the session where it is its own."""
    compactions.add(
        connection,
        {
            "session_id": deed.session_id,
            "agent_id": deed.agent_id,
            "number": deed.count,
            "project_id": deed.project_id,
            "at_ms": deed.at_ms,
            "step": deed.step or None,
            "trigger": deed.trigger or None,
            "before_tokens": deed.before_tokens or None,
            "after_tokens": deed.after_tokens or None,
        },
    )
    freed = {"compact_count": deed.count, "compacted_ms": deed.at_ms}
    window = {
        "session_id": deed.session_id,
        "agent_id": deed.agent_id,
        "project_id": deed.project_id,
        "used_tokens": 0,
        "updated_ms": deed.at_ms,
        **freed,
    }
    before = first(connection, _window_of(deed).with_for_update(key_share=True))
    if before is None or _is_newer(deed, before):
        keys = ["session_id", "agent_id"]
        connection.execute(upsert(connection, windows, keys, window, freed))
    if deed.agent_id:
        return
    mine = sessions.c.id == deed.session_id
    session = first(connection, sa.select(sessions).where(mine).with_for_update(key_share=True))
    if session is not None and _is_newer(deed, session):
        told = {"compact_summary": deed.summary} if deed.summary else {}
        connection.execute(sa.update(sessions).where(mine).values({**freed, **told}))


def take_readings(connection: Connection, deed: ReadingsTold) -> None:
    told = zip(deed.step, deed.at_ms, deed.used_tokens, strict=True)
    readings.add(connection, deed.session_id, deed.agent_id, told, deed.limit_tokens or None)


def _is_newer(deed: Compacted, row: Row) -> bool:
    """The summary comes after its boundary, perhaps in the same millisecond."""
    return (deed.count, deed.at_ms) >= (row["compact_count"] or 0, row["compacted_ms"] or 0)


def _window_of(deed: WindowSeen | Compacted) -> sa.Select[tuple[object, ...]]:
    mine = (windows.c.session_id == deed.session_id) & (windows.c.agent_id == deed.agent_id)
    return sa.select(windows).where(mine)


def take_audit(connection: Connection, deeds: Iterable[Deed]) -> list[Row]:
    """Those that are new."""
    told = [deed for deed in deeds if isinstance(deed, AuditLine)]
    shelf = Shelf(connection, audit, (deed.id for deed in told))
    for deed in told:
        shelf.put(
            {
                "id": deed.id,
                "kind": deed.kind,
                "session_id": deed.session_id or None,
                "agent_id": deed.agent_id or None,
                "body": deed.body,
                "at_ms": deed.at_ms,
            }
        )
    return shelf.flush()[0]


def take_checkpoints(connection: Connection, deeds: Iterable[Deed]) -> list[Row]:
    """As the API saves them too; one that was told before stays as it is."""
    told = [deed for deed in deeds if isinstance(deed, CheckpointTaken)]
    shelf = Shelf(connection, agent_contexts, (deed.id for deed in told))
    for deed in told:
        if shelf.get(deed.id) is None:
            shelf.put(
                {
                    "id": deed.id,
                    "project_id": deed.project_id,
                    "agent_id": f"{SNAPSHOT}-{deed.session_id}-{deed.at_ms}",
                    "agent_type": SNAPSHOT,
                    "session_id": deed.session_id,
                    "status": "completed",
                    "role_context": deed.snapshot,
                    "skills_to_restore": [],
                    "tools_used": [],
                    "progress_summary": deed.summary or None,
                    "compact_id": deed.checkpoint_id,
                    "updated_ms": deed.at_ms,
                }
            )
    return shelf.flush()[0]

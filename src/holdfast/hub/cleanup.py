"""Delete what is old: expired messages, old snapshots and events. Close sessions that ended without
a report. What a person would look for stays as long as checkpoints do.
"""

import time
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from holdfast.hub import ids
from holdfast.hub.board import messages as board
from holdfast.hub.store.rows import fetch, prune_events
from holdfast.hub.store.tables import (
    agent_contexts,
    claims,
    cleanups,
    compactions,
    messages,
    sessions,
    subtasks,
    windows,
)
from holdfast.hub.tree import readings, work
from holdfast.hub.tree.contexts import AUTOMATIC, SNAPSHOT

DAY_MS = 86_400_000
SILENT_MS = DAY_MS  # a session without a report for a day has ended; its running subtasks failed
KEPT_MS = 30 * DAY_MS
EXPIRED_KEPT_MS = DAY_MS  # an expired message stays listed for a day


def run(
    connection: sa.Connection,
    now_ms: int,
    *,
    days: int = 30,
    daily_after_days: int = 7,
    held: Collection[str] = (),
) -> dict[str, Any]:
    """Clean up once and return the figures that `/api/cleanup/stats` shows. Contexts and snapshots
    stay for `days`, and of the latter, after a time, one a day. `held`: sessions whose transcripts
    are still there; their compactions and readings stay."""
    old_ms, thinned_ms = now_ms - days * DAY_MS, now_ms - daily_after_days * DAY_MS
    began = time.monotonic()
    expired = messages.c.expires_ms < now_ms - EXPIRED_KEPT_MS
    figures = {
        "deletedMessages": _delete(connection, messages, expired),
        "closedSessions": _close_sessions(connection, now_ms),
        "failedSubtasks": _fail_subtasks(connection),
        "deletedAgentContexts": _old_contexts(connection, old_ms)
        + _thin_snapshots(connection, thinned_ms),
    }
    _delete(connection, claims, claims.c.expires_ms < now_ms - DAY_MS)
    for column in (windows.c.updated_ms, cleanups.c.ran_ms):
        _delete(connection, column.table, column < now_ms - KEPT_MS)
    is_gone = compactions.c.session_id.not_in(held)
    _delete(connection, compactions, (compactions.c.at_ms < now_ms - KEPT_MS) & is_gone)
    readings.prune(connection, now_ms, held)
    prune_events(connection, now_ms)
    figures["durationMs"] = round((time.monotonic() - began) * 1000)
    row = {"id": ids.new(), "ran_ms": now_ms, "figures": figures}
    connection.execute(sa.insert(cleanups), row)
    return figures


def last(connection: sa.Connection) -> tuple[int, dict[str, Any]] | None:
    found = fetch(connection, cleanups, order=[cleanups.c.ran_ms.desc()], most=1)
    return (found[0]["ran_ms"], found[0]["figures"]) if found else None


def message_figures(connection: sa.Connection, now_ms: int) -> dict[str, Any]:
    """Count messages. `unread`: not expired, and delivered to no agent yet."""
    table = messages.c
    expired = sa.func.coalesce(sa.func.sum(sa.case((table.expires_ms <= now_ms, 1), else_=0)), 0)
    query = sa.select(table.topic, sa.func.count(), expired).group_by(table.topic)
    by_topic = connection.execute(query).all()
    total = sum(int(n) for _, n, _ in by_topic)
    gone = sum(int(n) for _, _, n in by_topic)
    return {
        "total": total,
        "expired": gone,
        "active": total - gone,
        "unread": board.states(connection, now_ms)["waiting"],
        "byTopic": {str(topic): int(n) for topic, n, _ in by_topic},
    }


def snapshot_figures(connection: sa.Connection) -> tuple[int, int | None]:
    """Count the snapshots that the guard took, and return when the newest of all was taken."""
    table = agent_contexts.c
    trigger = table.role_context["trigger"].as_string()
    of_snapshots = table.agent_type == SNAPSHOT
    proactive = sa.select(sa.func.count()).where(of_snapshots, trigger.in_(AUTOMATIC))
    newest = sa.select(sa.func.max(table.updated_ms)).where(of_snapshots)
    return int(connection.scalar(proactive) or 0), connection.scalar(newest)


def _delete(connection: sa.Connection, table: sa.Table, where: sa.ColumnElement[bool]) -> int:
    return int(connection.execute(sa.delete(table).where(where)).rowcount)


def _close_sessions(connection: sa.Connection, now_ms: int) -> int:
    table = sessions.c
    last_seen = sa.func.coalesce(table.seen_ms, table.started_ms)
    silent = table.ended_ms.is_(None) & (last_seen < now_ms - SILENT_MS)
    change = sa.update(sessions).where(silent).values(ended_ms=last_seen)
    return int(connection.execute(change).rowcount)


def _fail_subtasks(connection: sa.Connection) -> int:
    """Mark running subtasks of ended sessions as failed."""
    ended = sa.select(sessions.c.id, sessions.c.ended_ms).where(
        sessions.c.ended_ms.is_not(None),
        sa.exists().where(subtasks.c.session_id == sessions.c.id, subtasks.c.status == "running"),
    )
    found = connection.execute(ended.order_by(sessions.c.id)).all()
    return sum(work.close_session(connection, name, ended_ms) for name, ended_ms in found)


def _old_contexts(connection: sa.Connection, before_ms: int) -> int:
    """Delete old contexts; the newest snapshot of a session stays, however old."""
    table, newer = agent_contexts.c, agent_contexts.alias("newer")
    same = (newer.c.session_id == table.session_id) & (newer.c.agent_type == SNAPSHOT)
    later = sa.select(newer.c.id).where(same, newer.c.updated_ms > table.updated_ms).exists()
    old = table.updated_ms < before_ms
    return _delete(connection, agent_contexts, old & ((table.agent_type != SNAPSHOT) | later))


def _thin_snapshots(connection: sa.Connection, before_ms: int) -> int:
    """Leave the newest snapshot of each day and session."""
    table = agent_contexts.c
    day = (table.session_id, table.updated_ms // DAY_MS)
    rank = sa.func.row_number().over(partition_by=day, order_by=(table.updated_ms.desc(), table.id))
    old = sa.select(table.id, rank.label("place"))
    old = old.where(table.agent_type == SNAPSHOT, table.updated_ms < before_ms)
    ranked = old.subquery()
    going = sa.select(ranked.c.id).where(ranked.c.place > 1)
    return _delete(connection, agent_contexts, table.id.in_(going))

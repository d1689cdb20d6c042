"""Which agent waits for which, as the agents say. Nothing is derived from it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import Refused
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row, matching, rows, upsert
from holdfast.hub.store.rows import remove as remove_row
from holdfast.hub.store.tables import agent_contexts, blockings, sessions, subtasks, windows

MOST_LISTED = 1_000
PAIR = ("blocked_by", "blocked_agent")
_OLDEST_FIRST = sa.select(blockings).order_by(blockings.c.created_ms, blockings.c.id)


def add(connection: Connection, given: Row, now_ms: int) -> Row:
    """Add a wait. There is one per pair of agents; adding it again changes the reason."""
    if given["blocked_by"] == given["blocked_agent"]:
        raise Refused("An agent cannot block itself", "blocked_agent")
    row = {"id": ids.new(), "reason": None, "created_ms": now_ms, **given}
    changes = {"reason": given.get("reason", blockings.c.reason)}
    put_in = upsert(connection, blockings, PAIR, row, changes)
    kept = dict(connection.execute(put_in.returning(blockings)).mappings().one())
    events.tell(connection, "blocking.added", kept, *PAIR)
    return kept


def find(connection: Connection, **agents: str) -> list[Row]:
    """Return the waits of these agents, the longest first."""
    return rows(connection, _OLDEST_FIRST.where(*matching(blockings, **agents)))


def list_all(connection: Connection, project_id: str | None = None) -> list[Row]:
    """List all waiting agents, the longest wait first. With a project, a wait is listed if one
    of the two agents works on it."""
    query = _OLDEST_FIRST
    if project_id is not None:
        here = sa.select(sessions.c.id).where(sessions.c.project_id == project_id)
        named = subtasks.c.agent_id.is_not(None)
        known = sa.union(
            sa.select(windows.c.agent_id).where(windows.c.project_id == project_id),
            sa.select(agent_contexts.c.agent_id).where(agent_contexts.c.project_id == project_id),
            here,
            sa.select(subtasks.c.agent_id).where(subtasks.c.session_id.in_(here), named),
        )
        query = query.where(sa.or_(*(blockings.c[name].in_(known) for name in PAIR)))
    return rows(connection, query.limit(MOST_LISTED))


def remove(connection: Connection, **which: str) -> Row:
    gone = remove_row(connection, sa.and_(*matching(blockings, **which)), blockings, "Blocking")
    events.tell(connection, "blocking.removed", gone, *PAIR)
    return gone

"""Which agent waits for which. A wait that would close a circle is refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import Refused
from holdfast.hub.store import events
from holdfast.hub.store.engine import is_sqlite
from holdfast.hub.store.rows import Row, first, rows, upsert
from holdfast.hub.store.rows import remove as remove_row
from holdfast.hub.store.tables import agent_contexts, blockings, sessions, subtasks, windows

MOST_LISTED = 1_000
PAIR = ("blocked_by", "blocked_agent")
_LOCK = 0x401DFA59  # two waits that would close a circle together are added one after the other


def circle(waits: Mapping[str, Collection[str]], waiting: str, awaited: str) -> tuple[str, ...]:
    """Return the shortest circle that would exist if `waiting` waited for `awaited`; empty if
    none."""
    came_from = {awaited: waiting}
    to_visit = deque([awaited])
    while to_visit:
        agent = to_visit.popleft()
        if agent == waiting:
            return _path_back(came_from, waiting)
        for next_one in waits.get(agent, ()):
            if next_one not in came_from:
                came_from[next_one] = agent
                to_visit.append(next_one)
    return ()


def _path_back(came_from: Mapping[str, str], waiting: str) -> tuple[str, ...]:
    path = [waiting]
    while len(path) == 1 or path[-1] != waiting:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))


def add(
    connection: Connection, blocked_by: str, blocked_agent: str, reason: str | None, now_ms: int
) -> Row:
    """Add a wait. There is one per pair of agents; adding it again changes the reason."""
    if blocked_by == blocked_agent:
        raise Refused("An agent cannot block itself", "blocked_agent")
    lock_blockings(connection)
    found = circle(_reached_from(connection, blocked_by), blocked_agent, blocked_by)
    if found:
        raise Refused(f"They would wait for each other: {' waits for '.join(found)}", "blocked_by")
    row = {
        "id": ids.new(),
        "blocked_by": blocked_by,
        "blocked_agent": blocked_agent,
        "reason": reason,
        "created_ms": now_ms,
    }
    changes = {"reason": blockings.c.reason if reason is None else reason}
    put_in = upsert(connection, blockings, PAIR, row, changes)
    kept = dict(connection.execute(put_in.returning(blockings)).mappings().one())
    events.tell(connection, "blocking.added", kept, *PAIR)
    return kept


@dataclass(frozen=True, slots=True)
class BlockedState:
    """One agent: the agents it waits for, and the agents that wait for it."""

    waits_for: list[Row]
    holds_up: list[Row]


def find_blockings(connection: Connection, agent_id: str) -> BlockedState:
    return BlockedState(
        rows(connection, _OLDEST_FIRST.where(blockings.c.blocked_agent == agent_id)),
        rows(connection, _OLDEST_FIRST.where(blockings.c.blocked_by == agent_id)),
    )


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


_OLDEST_FIRST = sa.select(blockings).order_by(blockings.c.created_ms, blockings.c.id)


def is_blocked(connection: Connection, blocker: str, blocked: str) -> bool:
    return first(connection, sa.select(blockings).where(_pair(blocker, blocked))) is not None


def remove(connection: Connection, blocked_by: str, blocked_agent: str) -> Row:
    return _remove(connection, _pair(blocked_by, blocked_agent))


def remove_by_id(connection: Connection, blocking_id: str) -> Row:
    return _remove(connection, blockings.c.id == blocking_id)


def _remove(connection: Connection, which: sa.ColumnElement[bool]) -> Row:
    gone = remove_row(connection, which, blockings, "Blocking")
    events.tell(connection, "blocking.removed", gone, *PAIR)
    return gone


def _pair(blocked_by: str, blocked_agent: str) -> sa.ColumnElement[bool]:
    return (blockings.c.blocked_by == blocked_by) & (blockings.c.blocked_agent == blocked_agent)


def lock_blockings(connection: Connection) -> None:
    if not is_sqlite(connection):  # SQLite has one writer anyway
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def _reached_from(connection: Connection, agent_id: str) -> dict[str, list[str]]:
    """Return every agent this one waits for, directly or through others, in one query."""
    start = sa.select(sa.literal(agent_id, sa.Text).label("agent")).cte("reached", recursive=True)
    on = blockings.c.blocked_agent == start.c.agent
    reached = start.union(sa.select(blockings.c.blocked_by).join(start, on))
    found = connection.execute(
        sa.select(blockings.c.blocked_agent, blockings.c.blocked_by).join(
            reached, blockings.c.blocked_agent == reached.c.agent
        )
    )
    return group_waits((waiting, awaited) for waiting, awaited in found)


def group_waits(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    waits: dict[str, list[str]] = {}
    for waiting, awaited in pairs:
        waits.setdefault(waiting, []).append(awaited)
    return waits

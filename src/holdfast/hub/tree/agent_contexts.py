"""What is known of each agent. Snapshots of compactions are rows of the same table."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.checkpoint.snapshot_form import SNAPSHOT as SNAPSHOT
from holdfast.hub.store.rows import Page, paged, rows
from holdfast.hub.store.tables import agent_contexts


def listed(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    agent_id: str | None = None,
    agent_type: str | None = None,
    status: str | None = None,
    session_id: str | None = None,
    project_id: str | None = None,
) -> Page:
    """Newest first. A snapshot is also found by the id of its session."""
    table = agent_contexts.c
    query = sa.select(agent_contexts).order_by(table.updated_ms.desc(), table.id)
    if agent_id is not None:
        snapshot = (table.agent_type == SNAPSHOT) & (table.session_id == agent_id)
        query = query.where((table.agent_id == agent_id) | snapshot)
    wanted = {
        "agent_type": agent_type,
        "status": status,
        "session_id": session_id,
        "project_id": project_id,
    }
    query = query.where(*(table[name] == value for name, value in wanted.items() if value))
    return paged(connection, query, limit, offset)


def figures(connection: Connection) -> dict[str, Any]:
    """How many there are, of which kinds, in which state."""
    table = agent_contexts.c
    of_type = _counted(connection, table.agent_type)
    of_status = _counted(connection, table.status)
    return {
        "stats": {
            "total": sum(of_type.values()),
            "unique_types": len(of_type),
            **{name: of_status.get(name, 0) for name in ("running", "completed", "failed")},
        },
        "type_distribution": [
            {"agent_type": name, "count": n}
            for name, n in sorted(of_type.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }


def tools_used(connection: Connection) -> dict[str, int]:
    """In how many contexts each tool was used."""
    query = sa.select(agent_contexts.c.tools_used).order_by(agent_contexts.c.updated_ms.desc())
    found: dict[str, int] = {}
    for row in rows(connection, query.limit(1000)):
        for tool in row["tools_used"] or ():
            found[str(tool)] = found.get(str(tool), 0) + 1
    return found


def _counted(connection: Connection, column: sa.Column[Any]) -> dict[str, int]:
    query = sa.select(column, sa.func.count()).group_by(column)
    return {str(name): int(n) for name, n in connection.execute(query) if name is not None}

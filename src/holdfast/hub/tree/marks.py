"""What happened to a window and is marked on its curve: alerts and checkpoints."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import rows
from holdfast.hub.store.tables import agent_contexts, audit
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.window.audit import PRESSURE

MOST = 1_000  # of each kind, the newest


def alerts(connection: Connection, session_id: str, agent_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    mine = (audit.c.session_id == session_id) & (audit.c.kind == PRESSURE)
    whose = sa.func.coalesce(audit.c.agent_id, "") == agent_id
    query = sa.select(audit).where(mine, whose).order_by(audit.c.at_ms.desc()).limit(MOST)
    return [_alert(row["at_ms"], row["body"] or {}) for row in reversed(rows(connection, query))]


def _alert(at_ms: int, body: dict[str, Any]) -> dict[str, Any]:
    ratio = body.get("used_ratio")
    return {
        "at_ms": at_ms,
        "level": _word(body.get("level")),
        "zone": _word(body.get("zone")),
        "used_ratio": float(ratio) if isinstance(ratio, int | float) else None,
        "heard": "told the model" in (body.get("done") or ()),
    }


def checkpoints(connection: Connection, session_id: str, agent_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    table = agent_contexts.c
    mine = (table.session_id == session_id) & (table.agent_type == SNAPSHOT)
    query = sa.select(table.compact_id, table.updated_ms, table.role_context).where(mine)
    found = rows(connection, query.order_by(table.updated_ms.desc()).limit(MOST))
    return [
        {
            "id": row["compact_id"],
            "at_ms": row["updated_ms"],
            "trigger": _word((row["role_context"] or {}).get("trigger")),
        }
        for row in reversed(found)
        if ((row["role_context"] or {}).get("agent_id") or "") == agent_id
    ]


def checkpoints_since(connection: Connection, since_ms: int) -> int:
    table = agent_contexts.c
    wanted = (table.agent_type == SNAPSHOT) & (table.updated_ms >= since_ms)
    return connection.scalar(sa.select(sa.func.count()).where(wanted)) or 0


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

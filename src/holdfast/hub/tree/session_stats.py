"""All sessions in one look."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.store.rows import rows
from holdfast.hub.store.tables import projects, sessions
from holdfast.hub.tree.sessions import ACTIVE_MS, TOTALS


def stats(connection: Connection, now_ms: int) -> dict[str, Any]:
    """All sessions in one look, and by project."""
    ended = sessions.c.ended_ms
    active = sa.case((ended.is_(None) | (ended > now_ms - ACTIVE_MS), 1), else_=0)
    overview = connection.execute(
        sa.select(
            sa.func.count().label("total_sessions"),
            sa.func.coalesce(sa.func.sum(active), 0).label("active_sessions"),
            *(sa.func.coalesce(sa.func.sum(sessions.c[name]), 0).label(name) for name in TOTALS),
            sa.func.coalesce(sa.func.min(sessions.c.started_ms), 0).label("oldest_ms"),
            sa.func.coalesce(sa.func.max(sessions.c.started_ms), 0).label("newest_ms"),
        )
    ).one()
    by_project = rows(
        connection,
        sa.select(
            projects.c.name.label("project_name"),
            projects.c.path.label("project_path"),
            sa.func.count().label("session_count"),
            sa.func.coalesce(sa.func.sum(sessions.c.total_tools_used), 0).label("total_tools"),
        )
        .join_from(sessions, projects)
        .group_by(projects.c.id, projects.c.name, projects.c.path)
        .order_by(sa.func.count().desc(), projects.c.path)
        .limit(100),
    )
    return {
        "overview": _overview({name: int(n) for name, n in overview._mapping.items()}),
        "by_project": [
            {
                **row,
                "session_count": int(row["session_count"]),
                "total_tools": int(row["total_tools"]),
            }
            for row in by_project
        ],
    }


def _overview(sums: dict[str, int]) -> dict[str, Any]:
    oldest, newest = sums.pop("oldest_ms"), sums.pop("newest_ms")
    n, tools = sums["total_sessions"], sums["total_tools_used"]
    return {
        **sums,
        "total_tools": tools,
        "avg_tools_per_session": tools / n if n else 0.0,
        "oldest_session": row_times.written(oldest if n else None),
        "newest_session": row_times.written(newest if n else None),
    }

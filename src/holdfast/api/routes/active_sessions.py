"""`/api/active-sessions`: who is at work now."""

from __future__ import annotations

from typing import Any

from fastapi import Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import Limit, Offset
from holdfast.api.responses import ApiAnswer, Paged, paging, said
from holdfast.api.router import Router
from holdfast.api.routes import sessions
from holdfast.hub import row_times
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree.sessions import agents_at_work, live_sessions, session_as_agent

router = Router(prefix="/api/active-sessions", tags=["sessions"])


class ActiveAgent(ApiAnswer):
    subtask_id: str | None
    agent_type: str | None
    agent_id: str | None
    description: str
    started_at: str | None
    created_at: str
    session_id: str
    request_id: str | None
    project_path: str | None
    project_name: str | None
    actions_count: int


class ActiveSession(sessions.SessionRow):
    project_path: str | None
    project_name: str | None


class ActiveSessionList(Paged):
    """`count` and `total` are those of the sessions; `agents_count` of agents that really run."""

    active_agents: list[ActiveAgent]
    active_sessions: list[ActiveSession]
    agents_count: int


@router.get("", response_model=ActiveSessionList)
async def get(db: Db, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Running agents and active sessions; where no agent runs, the sessions stand for them."""
    now = row_times.now_ms()

    def both(connection: Connection) -> tuple[list[Row], Page]:
        page = live_sessions(connection, limit, offset, now)
        return agents_at_work(connection, limit, offset), page

    running, page = await db.read(both)
    shown_agents = running or [session_as_agent(row) for row in page.rows]
    return said(
        {
            "active_agents": [_agent(row) for row in shown_agents],
            "active_sessions": [_session(row) for row in page.rows],
            "agents_count": len(running),
            **paging(page),
        }
    )


def _session(row: Row) -> dict[str, Any]:
    place = {name: row[name] for name in ("project_path", "project_name")}
    return {**sessions.shown(row), **place}


def _agent(row: Row) -> dict[str, Any]:
    whole = {name: value for name, value in row.items() if not name.endswith("_ms")}
    whole["started_at"] = row_times.written(row["started_ms"])
    whole["created_at"] = row_times.written(row["created_ms"])
    return whole

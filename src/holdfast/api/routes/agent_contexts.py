"""`/api/agent-contexts`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import IdQuery, Offset, WordQuery
from holdfast.api.responses import ApiAnswer, Paged, paging, said
from holdfast.api.router import Router
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import agent_contexts
from holdfast.wire.mark import CHARS_PER_TOKEN

router = Router(prefix="/api/agent-contexts", tags=["agents"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class AgentContext(ApiAnswer):
    id: str
    project_id: str | None
    agent_id: str
    agent_type: str
    session_id: str | None
    status: str | None
    role_context: dict[str, Any]
    skills_to_restore: list[Any]
    tools_used: list[Any]
    progress_summary: str | None
    compact_id: str | None
    trigger: str | None
    token_count: int | None
    last_updated: str


class ContextFigures(ApiAnswer):
    total: int
    unique_types: int
    running: int
    completed: int
    failed: int


class AgentTypeContexts(ApiAnswer):
    agent_type: str
    count: int


class AgentContextList(Paged):
    contexts: list[AgentContext]
    stats: ContextFigures
    type_distribution: list[AgentTypeContexts]
    timestamp: str


class ContextOverview(ApiAnswer):
    overview: ContextFigures
    top_types: list[AgentTypeContexts]
    recent_activity: list[AgentContext]
    tools_used: dict[str, int]
    timestamp: str


@router.get("", response_model=AgentContextList)
async def listed(
    db: Db,
    agent_id: WordQuery = None,
    agent_type: WordQuery = None,
    status: WordQuery = None,
    session_id: WordQuery = None,
    project_id: IdQuery = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """What is known of agents; snapshots have the type `compact-snapshot`."""

    def look(connection: Connection) -> dict[str, Any]:
        page = agent_contexts.listed(
            connection,
            limit,
            offset,
            agent_id=agent_id,
            agent_type=agent_type,
            status=status,
            session_id=session_id,
            project_id=project_id,
        )
        found = {"contexts": [shown(row) for row in page.rows], **paging(page)}
        return {**found, **agent_contexts.figures(connection)}

    return said({**await db.read(look), "timestamp": row_times.written(row_times.now_ms())})


@router.get("/stats", response_model=ContextOverview)
async def stats(db: Db) -> Response:
    def look(connection: Connection) -> dict[str, Any]:
        figures = agent_contexts.figures(connection)
        return {
            "overview": figures["stats"],
            "top_types": figures["type_distribution"][:10],
            "recent_activity": [
                shown(row) for row in agent_contexts.listed(connection, 10, 0).rows
            ],
            "tools_used": agent_contexts.tools_used(connection),
        }

    return said({**await db.read(look), "timestamp": row_times.written(row_times.now_ms())})


def shown(row: Row) -> dict[str, Any]:
    role = row["role_context"] if isinstance(row["role_context"], dict) else {}
    is_snapshot = row["agent_type"] == agent_contexts.SNAPSHOT
    return {
        "id": row["id"],
        "project_id": row["project_id"],
        "agent_id": row["agent_id"],
        "agent_type": row["agent_type"],
        "session_id": row["session_id"],
        "status": row["status"],
        "role_context": role,
        "skills_to_restore": row["skills_to_restore"] or [],
        "tools_used": row["tools_used"] or [],
        "progress_summary": row["progress_summary"],
        "compact_id": row["compact_id"],
        "trigger": role.get("trigger") if is_snapshot else None,
        "token_count": _tokens(role) if is_snapshot else None,
        "last_updated": row_times.written(row["updated_ms"]),
    }


def _tokens(snapshot: dict[str, Any]) -> int:
    """Of all of it, as it would be read: JSON, by characters."""
    return round(len(msgspec.json.encode(snapshot).decode()) / CHARS_PER_TOKEN)

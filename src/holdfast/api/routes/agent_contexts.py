"""`/api/agent-contexts`: what is known of each agent. `/api/context`: what an agent should know
now, as a brief or as rows.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query, Response
from pydantic import Field
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import AgentPath, Body, IdQuery, Offset, Text, Word, WordQuery
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, Router, RowAnswer, paging, respond
from holdfast.api.routes.compact import BriefTokens, RestoreSource, wanted_tokens
from holdfast.brief.store_brief import compose_shared
from holdfast.hub import ids, row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import agent_contexts, agent_knowledge
from holdfast.wire.mark import CHARS_PER_TOKEN

router = Router(prefix="/api/agent-contexts", tags=["agents"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class AgentContext(RowAnswer):
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
        page = agent_contexts.list_page(
            connection,
            limit,
            offset,
            agent_id=agent_id,
            agent_type=agent_type,
            status=status,
            session_id=session_id,
            project_id=project_id,
        )
        found = {"contexts": [answer_for(row) for row in page.rows], **paging(page)}
        return {**found, **agent_contexts.figures(connection)}

    return respond({**await db.read(look), "timestamp": row_times.to_iso(row_times.now_ms())})


@router.get("/stats", response_model=ContextOverview)
async def stats(db: Db) -> Response:
    def look(connection: Connection) -> dict[str, Any]:
        figures = agent_contexts.figures(connection)
        return {
            "overview": figures["stats"],
            "top_types": figures["type_distribution"][:10],
            "recent_activity": [
                answer_for(row) for row in agent_contexts.list_page(connection, 10, 0).rows
            ],
            "tools_used": agent_contexts.tools_used(connection),
        }

    return respond({**await db.read(look), "timestamp": row_times.to_iso(row_times.now_ms())})


def answer_for(row: Row) -> dict[str, Any]:
    role = row["role_context"] if isinstance(row["role_context"], dict) else {}
    is_snapshot = row["agent_type"] == agent_contexts.SNAPSHOT
    return AgentContext.of(
        row,
        role_context=role,
        trigger=role.get("trigger") if is_snapshot else None,
        token_count=_tokens(role) if is_snapshot else None,
        last_updated=row_times.to_iso(row["updated_ms"]),
    )


def _tokens(snapshot: dict[str, Any]) -> int:
    """Estimate the tokens of the whole answer, from the characters of its JSON."""
    return round(len(msgspec.json.encode(snapshot).decode()) / CHARS_PER_TOKEN)


context_router = Router(prefix="/api/context", tags=["context"])
History = Annotated[int, Field(ge=0, le=500)]


class Generate(Body):
    agent_id: Word
    session_id: Word
    agent_type: Text | None = None
    max_tokens: BriefTokens | None = None
    include_history: bool = True
    include_messages: bool = True
    include_blocking: bool = True
    history_limit: History = 50


class AgentBrief(ApiAnswer):
    id: str
    content: str
    token_count: int
    truncated: bool
    generated_at: str
    agent_id: str | None = None
    session_id: str | None = None


class BriefAnswer(ApiAnswer):
    agent_id: str
    session_id: str | None
    agent_type: str | None
    brief: AgentBrief
    sources: list[RestoreSource]


class RawAnswer(ApiAnswer):
    agent_id: str
    session_id: str | None
    agent_type: str | None
    data: dict[str, Any]
    counts: dict[str, int]


class Generated(ApiAnswer):
    success: bool
    brief: AgentBrief
    sources: list[RestoreSource]


@context_router.get("/{agent_id:text}", response_model=BriefAnswer | RawAnswer, responses=NOT_FOUND)
async def get(
    agent_id: AgentPath,
    db: Db,
    session_id: WordQuery = None,
    format: Literal["brief", "raw"] = "brief",  # noqa: A002 (the name in the address)
    agent_type: WordQuery = None,
    max_tokens: Annotated[BriefTokens | None, Query()] = None,
    include_history: bool = True,
    include_messages: bool = True,
    include_blocking: bool = True,
    history_limit: Annotated[History, Query()] = 50,
) -> Response:
    """If no session is named, the agent's newest session is used."""
    wanted = agent_knowledge.KnowledgeQuery(
        include_history, include_messages, include_blocking, history_limit
    )
    now = row_times.now_ms()
    found = await db.read(lambda c: agent_knowledge.find_work(c, agent_id, session_id, wanted, now))
    who = {
        "agent_id": agent_id,
        "session_id": found.session_id,
        "agent_type": agent_type or found.agent_type,
    }
    if format == "raw":
        return respond({**who, "data": found.data, "counts": found.counts})
    brief = _brief(found, agent_type, max_tokens, now)
    return respond({**who, "brief": brief, "sources": found.sources})


@context_router.post("/generate", status_code=201, response_model=Generated, responses=NOT_FOUND)
async def generate(body: Generate, db: Db) -> Response:
    wanted = agent_knowledge.KnowledgeQuery(
        body.include_history, body.include_messages, body.include_blocking, body.history_limit
    )
    now = row_times.now_ms()
    found = await db.read(
        lambda c: agent_knowledge.find_work(c, body.agent_id, body.session_id, wanted, now)
    )
    brief = _brief(found, body.agent_type, body.max_tokens, now)
    named = {"agent_id": body.agent_id, "session_id": body.session_id}
    return respond({"success": True, "brief": {**brief, **named}, "sources": found.sources}, 201)


def _brief(
    found: agent_knowledge.KnownWork, agent_type: str | None, max_tokens: int | None, now_ms: int
) -> dict[str, Any]:
    kind = agent_type or found.agent_type or ""
    origin = f"session {found.session_id}" if found.session_id else "the store"
    most = wanted_tokens(max_tokens)
    text, cut = compose_shared(found.snapshot_fields, most, agent_type=kind, origin=origin)
    return {
        "id": ids.new(),
        "content": text,
        "token_count": round(len(text) / CHARS_PER_TOKEN),
        "truncated": cut,
        "generated_at": row_times.to_iso(now_ms),
    }

"""`/api/context`: what an agent should know now, as a brief or as rows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import Field

from holdfast.api.database import Db
from holdfast.api.fields import AgentPath, Body, Text, Word, WordQuery
from holdfast.api.responses import NOT_FOUND, ApiAnswer, said
from holdfast.api.router import Router
from holdfast.api.routes.compact import BriefTokens, RestoreSource, wanted_tokens
from holdfast.brief.store_brief import compose_shared
from holdfast.hub import ids, row_times
from holdfast.hub.tree import agent_knowledge
from holdfast.wire.mark import CHARS_PER_TOKEN

router = Router(prefix="/api/context", tags=["context"])
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


@router.get("/{agent_id:text}", response_model=BriefAnswer | RawAnswer, responses=NOT_FOUND)
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
    """The session is found by the agent where it is not named."""
    wanted = agent_knowledge.KnowledgeQuery(
        include_history, include_messages, include_blocking, history_limit
    )
    now = row_times.now_ms()
    found = await db.read(lambda c: agent_knowledge.of(c, agent_id, session_id, wanted, now))
    who = {
        "agent_id": agent_id,
        "session_id": found.session_id,
        "agent_type": agent_type or found.agent_type,
    }
    if format == "raw":
        return said({**who, "data": found.data, "counts": found.counts})
    brief = _brief(found, agent_type, max_tokens, now)
    return said({**who, "brief": brief, "sources": found.sources})


@router.post("/generate", status_code=201, response_model=Generated, responses=NOT_FOUND)
async def generate(body: Generate, db: Db) -> Response:
    wanted = agent_knowledge.KnowledgeQuery(
        body.include_history, body.include_messages, body.include_blocking, body.history_limit
    )
    now = row_times.now_ms()
    found = await db.read(
        lambda c: agent_knowledge.of(c, body.agent_id, body.session_id, wanted, now)
    )
    brief = _brief(found, body.agent_type, body.max_tokens, now)
    named = {"agent_id": body.agent_id, "session_id": body.session_id}
    return said({"success": True, "brief": {**brief, **named}, "sources": found.sources}, 201)


def _brief(
    found: agent_knowledge.KnownWork, agent_type: str | None, max_tokens: int | None, now_ms: int
) -> dict[str, Any]:
    kind = agent_type or found.agent_type or ""
    origin = f"session {found.session_id}" if found.session_id else "the store"
    most = wanted_tokens(max_tokens)
    text, cut = compose_shared(found.told, most, agent_type=kind, origin=origin)
    return {
        "id": ids.new(),
        "content": text,
        "token_count": round(len(text) / CHARS_PER_TOKEN),
        "truncated": cut,
        "generated_at": row_times.written(now_ms),
    }

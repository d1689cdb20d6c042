"""`/api/compact`: save what a session knows, and restore it as a brief."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    WithJsonSchema,
)
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    AgentType,
    Body,
    SessionPath,
    Text,
    UncheckedText,
    UncheckedTexts,
    UncheckedValue,
    Word,
    bounded_value,
    clean_fields,
    not_large,
)
from holdfast.api.responses import ApiAnswer, Router, respond
from holdfast.brief.store_brief import compose_shared
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import agent_contexts, agent_knowledge, snapshot_form
from holdfast.settings import load as settings_load

router = Router(prefix="/api/compact", tags=["compaction"])


TEXTS = ("context_summary", "active_tasks", "modified_files", "key_decisions", "timestamp")
VALUES = ("agent_states", "wave_state", "hierarchy", "recent_messages", "recent_actions")


class ActiveTask(Body):
    id: UncheckedText
    description: UncheckedText
    status: UncheckedText
    agent_type: UncheckedText | None = None
    parent_agent_id: UncheckedText | None = None


class AgentState(Body):
    """The state of one agent. Further fields, such as the `role_context` of a listed context,
    are stored too."""

    model_config = ConfigDict(extra="allow")
    agent_id: UncheckedText
    agent_type: UncheckedText | None = None
    status: UncheckedText | None = None
    summary: UncheckedText | None = None


# As a list, as the answer of `/api/agent-contexts`, or as an object keyed by the agent.
AgentStates = Annotated[
    list[AgentState],
    BeforeValidator(bounded_value),
    BeforeValidator(snapshot_form.agent_states),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]}),
]


class Save(Body):
    session_id: Word
    trigger: Literal[
        "auto", "manual", "proactive", "guard", "monitor", "watcher", "batch", "session-end"
    ] = "auto"
    context_summary: UncheckedText | None = None
    active_tasks: Annotated[list[ActiveTask], BeforeValidator(not_large)] = Field(
        default_factory=list
    )
    modified_files: UncheckedTexts = Field(default_factory=list)
    key_decisions: UncheckedTexts = Field(default_factory=list)
    agent_states: AgentStates = Field(default_factory=list)
    wave_state: Annotated[dict[str, Any], AfterValidator(bounded_value)] | None = None
    hierarchy: Annotated[UncheckedValue, BeforeValidator(snapshot_form.work_tree)] = None
    recent_messages: Annotated[UncheckedValue, BeforeValidator(snapshot_form.recent_messages)] = (
        None
    )
    recent_actions: Annotated[UncheckedValue, BeforeValidator(snapshot_form.recent_actions)] = None
    timestamp: UncheckedText | None = None
    _snapshot: dict[str, Any] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _context: Any, /) -> None:
        """With the rest of the validation, which is done on another thread for a large body."""
        snapshot = snapshot_form.normalize(self.model_dump(exclude_none=True))
        texts = {name: snapshot[name] for name in TEXTS if snapshot.get(name)}
        values = {name: snapshot[name] for name in VALUES if snapshot.get(name)}
        self._snapshot = snapshot | clean_fields(texts, values)

    @property
    def snapshot(self) -> dict[str, Any]:
        """All of it in the one form, without secrets."""
        return self._snapshot


class SavedCounts(ApiAnswer):
    session_id: str
    trigger: str
    tasks_count: int
    files_count: int
    decisions_count: int
    agents_count: int


class SnapshotSaved(ApiAnswer):
    success: bool
    id: str
    snapshot: SavedCounts
    saved_at: str


class Snapshot(ApiAnswer):
    session_id: str
    exists: bool
    snapshot: dict[str, Any] | None
    summary: str | None = None
    modified_files: list[Any] = Field(default_factory=list)
    saved_at: str | None = None


BriefTokens = Annotated[int, Field(ge=100, le=8000)]


def wanted_tokens(asked: int | None) -> int:
    """The size the client asks for, else the user's setting."""
    return settings_load.load().whole("brief_tokens") if asked is None else asked


class Restore(Body):
    session_id: Word
    agent_id: Word
    agent_type: AgentType = "developer"
    compact_summary: Text | None = None
    max_tokens: BriefTokens | None = None


class RestoreSource(ApiAnswer):
    type: str
    id: str
    relevance: float
    summary: str


class SnapshotRestored(ApiAnswer):
    success: bool
    brief: str
    additionalContext: str  # noqa: N815 (the name Claude Code's hooks answer by)
    sources: list[RestoreSource]
    session_compacted: bool
    restored_at: str


class SnapshotStatus(ApiAnswer):
    session_id: str
    exists: bool
    compacted: bool
    compacted_at: str | None = None
    compact_summary: str | None = None
    compact_agent: str | None = None


@router.post("/save", status_code=201, response_model=SnapshotSaved)
async def save(body: Save, db: Db) -> Response:
    """Save what a session knows. Secrets are removed first."""
    now = row_times.now_ms()
    snapshot = body.snapshot
    row = await db.write(lambda c: agent_contexts.save_snapshot(c, body.session_id, snapshot, now))
    counts = {
        "session_id": body.session_id,
        "trigger": body.trigger,
        "tasks_count": len(snapshot["active_tasks"]),
        "files_count": len(snapshot["modified_files"]),
        "decisions_count": len(snapshot["key_decisions"]),
        "agents_count": len(snapshot["agent_states"]),
    }
    saved_at = row_times.to_iso(now)
    return respond(
        {"success": True, "id": row["id"], "snapshot": counts, "saved_at": saved_at}, 201
    )


@router.get("/snapshot/{session_id:text}", response_model=Snapshot)
async def snapshot(session_id: SessionPath, db: Db) -> Response:
    """The newest of exactly this session."""
    row = await db.read(lambda c: agent_contexts.latest_snapshot(c, session_id))
    if row is None:
        return respond({"session_id": session_id, "exists": False, "snapshot": None})
    held = _normalized(row)
    return respond(
        {
            "session_id": session_id,
            "exists": True,
            "snapshot": held,
            "summary": held.get("context_summary"),
            "modified_files": held["modified_files"],
            "saved_at": held["saved_at"],
        }
    )


@router.post("/restore", response_model=SnapshotRestored)
async def restore(body: Restore, db: Db) -> Response:
    """Restore the brief, within `max_tokens`; an unknown session gets an empty one."""
    now = row_times.now_ms()
    summary = body.compact_summary or ""
    # At once: while the note goes to the disk, the brief is composed on the thread that has read.
    _, found = await asyncio.gather(
        db.write(
            lambda c: agent_contexts.note_compaction(
                c, body.session_id, summary, body.agent_id, now
            )
        ),
        db.read(lambda c: _restore(c, body, now)),
    )
    return respond({"success": True, **found, "restored_at": row_times.to_iso(now)})


def _restore(connection: Connection, body: Restore, now_ms: int) -> dict[str, Any]:
    wanted = agent_knowledge.KnowledgeQuery(agent_type=False, for_brief=True)
    found = agent_knowledge.find_work(connection, body.agent_id, body.session_id, wanted, now_ms)
    is_known = found.data["session"] or agent_contexts.snapshot_status(connection, body.session_id)
    brief, _ = compose_shared(
        {**found.snapshot_fields, "compact_summary": body.compact_summary},
        wanted_tokens(body.max_tokens),
        agent_type=body.agent_type,
        agent_id=body.agent_id,
        origin=f"session {body.session_id}",
    )
    return {
        "brief": brief,
        "additionalContext": brief,
        "sources": found.sources,
        "session_compacted": is_known is not None,
    }


@router.get("/status/{session_id:text}", response_model=SnapshotStatus)
async def status(session_id: SessionPath, db: Db) -> Response:
    """Whether this session has been compacted."""
    row = await db.read(lambda c: agent_contexts.snapshot_status(c, session_id))
    if row is None:
        return respond({"session_id": session_id, "exists": False, "compacted": False})
    return respond(
        {
            "session_id": session_id,
            "exists": True,
            "compacted": row["compacted_ms"] is not None,
            "compacted_at": row_times.to_iso(row["compacted_ms"]),
            "compact_summary": row.get("compact_summary"),
            "compact_agent": row.get("compact_agent"),
        }
    )


def _normalized(row: Row) -> dict[str, Any]:
    """Return a snapshot in its normal form, with every field that clients expect."""
    held = snapshot_form.normalize(row["role_context"])
    return {**held, "saved_at": row_times.to_iso(row["updated_ms"])}

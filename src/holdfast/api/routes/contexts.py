"""`/api/compact`: save what a session knows, and restore it as a brief. `/api/context`: what an
agent should know now, as a brief or as rows. `/api/agent-contexts`: what is known of each agent.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import Query, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from sqlalchemy.engine import Connection

from holdfast.api import fields
from holdfast.api.responses import Db, Paged, Router, answer, paging, respond, row_answer
from holdfast.brief.compose import Brief, compose_rows
from holdfast.hub import ids, row_times
from holdfast.hub.errors import Refused
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import contexts, sessions
from holdfast.hub.tree.agent_knowledge import KnownWork, find_work
from holdfast.settings import load as settings_load
from holdfast.wire.mark import CHARS_PER_TOKEN

router = Router(tags=["contexts"])
Trigger = Literal[
    "auto", "manual", "proactive", "guard", "monitor", "watcher", "batch", "session-end"
]
BriefTokens = Annotated[int, Field(ge=100, le=8000)]
MOST_CALLS = 150  # of a session, that a brief is made from


class ActiveTask(BaseModel):
    id: fields.Text
    description: fields.Text
    status: fields.Text
    agent_type: fields.Text | None = None
    parent_agent_id: fields.Text | None = None


class AgentState(BaseModel):
    """The state of one agent. Further fields, such as `role_context`, are stored too."""

    model_config = ConfigDict(extra="allow")
    agent_id: fields.Text
    agent_type: fields.Text | None = None
    status: fields.Text | None = None
    summary: fields.Text | None = None


# As a list, as the answer of `/api/agent-contexts`, or as an object keyed by the agent.
AgentStates = Annotated[
    list[AgentState],
    BeforeValidator(fields.bounded_value),
    BeforeValidator(contexts.agent_states),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]}),
]


class Save(fields.Body):
    session_id: fields.Word
    project_id: fields.Id | None = None
    trigger: Trigger = "auto"
    context_summary: fields.Text | None = None
    active_tasks: Annotated[list[ActiveTask], BeforeValidator(fields.not_large)] = Field(
        default_factory=list
    )
    modified_files: fields.Texts = Field(default_factory=list)
    key_decisions: fields.Texts = Field(default_factory=list)
    agent_states: AgentStates = Field(default_factory=list)
    wave_state: Annotated[dict[str, Any], AfterValidator(fields.bounded_value)] | None = None
    hierarchy: Annotated[fields.Value, BeforeValidator(contexts.work_tree)] = None
    recent_messages: Annotated[fields.Value, BeforeValidator(contexts.recent_messages)] = None
    recent_actions: Annotated[fields.Value, BeforeValidator(contexts.recent_actions)] = None
    timestamp: fields.Text | None = None

    def normalized(self) -> dict[str, Any]:
        return contexts.normalize(super().normalized())


class Restore(fields.Body):
    session_id: fields.Word
    agent_id: fields.Word
    agent_type: fields.Text | None = Field(
        None, description="none: that of the agent's rows; without it all, as a main session gets"
    )
    compact_summary: fields.Text | None = None
    max_tokens: BriefTokens | None = None


COUNTED = {
    "tasks_count": "active_tasks",
    "files_count": "modified_files",
    "decisions_count": "key_decisions",
    "agents_count": "agent_states",
}
SavedCounts = answer("SavedCounts", "session_id:str trigger:str", **dict.fromkeys(COUNTED, int))
Saved = answer("SnapshotSaved", "success:bool id:str saved_at:str snapshot:SavedCounts")


@router.writes("POST", "/api/compact/save", Saved, status=201)
def save(connection: Connection, body: Save) -> Row:
    """Save what a session knows. Secrets are removed first."""
    now, snapshot = row_times.now_ms(), body.given
    row = sessions.save_snapshot(connection, body.session_id, snapshot, now)
    counts: Row = {name: len(snapshot[field]) for name, field in COUNTED.items()}
    counts |= {"session_id": body.session_id, "trigger": body.trigger}
    saved_at = row_times.to_iso(now)
    return {"success": True, "id": row["id"], "snapshot": counts, "saved_at": saved_at}


Snapshot = answer(
    "Snapshot",
    "session_id:str exists:bool snapshot:object? summary:str?= saved_at:str?=",
    modified_files=(list[Any], None),
)


@router.reads("/api/compact/snapshot/{session_id:text}", Snapshot)
def get_snapshot(connection: Connection, session_id: fields.SessionPath) -> Row:
    """The newest of exactly this session."""
    row = contexts.latest_snapshot(connection, session_id)
    if row is None:
        return {"session_id": session_id, "exists": False, "snapshot": None}
    saved_at = row_times.to_iso(row["updated_ms"])
    held = {**contexts.normalize(row["role_context"]), "saved_at": saved_at}
    about = {"session_id": session_id, "exists": True, "summary": held["context_summary"]}
    return {
        **about,
        "snapshot": held,
        **{name: held[name] for name in ("modified_files", "saved_at")},
    }


Source = answer("RestoreSource", "type:str id:str relevance:float summary:str")
Restored = answer(
    "SnapshotRestored",
    "success:bool brief:str additionalContext:str session_compacted:bool restored_at:str "
    "sources:RestoreSource[]",
)


@router.post("/api/compact/restore", response_model=Restored)
async def restore(body: Restore, db: Db) -> Response:
    """Restore the brief, within `max_tokens`; an unknown session gets an empty one."""
    now, summary = row_times.now_ms(), body.compact_summary or ""
    who = body.session_id, summary, body.agent_id
    restored = await db.read(lambda c: _restore(c, body, now))
    await db.write(lambda c: sessions.note_compaction(c, *who, now))
    return respond({"success": True, **restored, "restored_at": row_times.to_iso(now)})


def _restore(connection: Connection, body: Restore, now_ms: int) -> dict[str, Any]:
    known = find_work(connection, body.agent_id, body.session_id, now_ms, MOST_CALLS)
    work = known.work
    if body.compact_summary:
        work["summaries"] = [("the client's summary", body.compact_summary), *work["summaries"]]
    kind = body.agent_type or known.agent_type
    text = _compose(work, body.max_tokens, kind, body.agent_id).text
    beside = {"sources": known.sources, "session_compacted": known.session is not None}
    return {"brief": text, "additionalContext": text, **beside}


def _compose(work: Row, max_tokens: int | None, kind: str | None, agent_id: str) -> Brief:
    """In the size asked for, else the one of the settings; empty if nothing is known."""
    most = settings_load.load().whole("brief_tokens") if max_tokens is None else max_tokens
    brief = compose_rows(work, most, agent_type=kind or "", reader=agent_id)
    return brief if brief.lines else msgspec.structs.replace(brief, text="")


SnapshotStatus = answer(
    "SnapshotStatus",
    "session_id:str exists:bool compacted:bool compacted_at:str?= compact_summary:str?= "
    "compact_agent:str?=",
)


@router.reads("/api/compact/status/{session_id:text}", SnapshotStatus)
def status(connection: Connection, session_id: fields.SessionPath) -> Row:
    """Whether this session has been compacted."""
    row = sessions.find(connection, session_id)
    if row is None:
        return {"session_id": session_id, "exists": False, "compacted": False}
    at_ms = row["compacted_ms"]
    whose = {"session_id": session_id, "exists": True, "compacted": at_ms is not None}
    by = {name: row.get(name) for name in ("compact_summary", "compact_agent")}
    return {**whose, "compacted_at": row_times.to_iso(at_ms), **by}


History = Annotated[int, Field(ge=0, le=500)]


class AgentQuestion(fields.Body):
    """For whom a brief is, and what goes into it."""

    session_id: fields.Word | None = None
    agent_type: fields.Text | None = None
    max_tokens: BriefTokens | None = None
    include_history: bool = True
    include_messages: bool = True
    include_blocking: bool = True
    history_limit: History = 50


class Generate(AgentQuestion):
    agent_id: fields.Word
    session_id: fields.Word


class AgentQuery(AgentQuestion):
    format: Literal["brief", "raw"] = "brief"


Shown = answer("AgentBrief", "id:str content:str token_count:int truncated:bool generated_at:str")
Whose = answer("KnownAgent", "agent_id:str session_id:str? agent_type:str?")
BriefAnswer = answer("BriefAnswer", "brief:AgentBrief sources:RestoreSource[]", Whose)
RawAnswer = answer("RawAnswer", "data:object counts:int{}", Whose)
NamedBrief = answer("NamedBrief", "agent_id:str session_id:str", Shown)
Generated = answer("Generated", "success:bool brief:NamedBrief sources:RestoreSource[]")


@router.reads("/api/context/{agent_id:text}", BriefAnswer | RawAnswer)
def get_context(
    connection: Connection, agent_id: fields.AgentPath, asked: Annotated[AgentQuery, Query()]
) -> Row:
    """If no session is named, the agent's newest session is used."""
    known, brief = _brief_of(connection, agent_id, asked)
    kind = asked.agent_type or known.agent_type
    who = {"agent_id": agent_id, "session_id": known.session_id, "agent_type": kind}
    if asked.format == "brief":
        return {**who, "brief": brief, "sources": known.sources}
    data = known.data
    counts = {name: len(value) for name, value in data.items() if isinstance(value, list)}
    return {**who, "data": data, "counts": counts}


@router.reads("/api/context/generate", Generated, method="POST", status=201)
def generate(connection: Connection, body: Generate) -> Row:
    """The brief of an agent in a session."""
    known, brief = _brief_of(connection, body.agent_id, body)
    named = {**brief, "agent_id": body.agent_id, "session_id": body.session_id}
    return {"success": True, "brief": named, "sources": known.sources}


def _brief_of(
    connection: Connection, agent_id: str, asked: AgentQuestion
) -> tuple[KnownWork, dict[str, Any]]:
    now = row_times.now_ms()
    calls = asked.history_limit if asked.include_history else 0
    wanted = calls, asked.include_messages, asked.include_blocking
    known = find_work(connection, agent_id, asked.session_id, now, *wanted)
    kind = asked.agent_type or known.agent_type
    brief = _compose(known.work, asked.max_tokens, kind, agent_id)
    return known, {
        "id": ids.new(),
        "content": brief.text,
        "token_count": round(len(brief.text) / CHARS_PER_TOKEN),
        "truncated": brief.is_cut,
        "generated_at": row_times.to_iso(now),
    }


Context = row_answer(
    "AgentContext",
    tables.agent_contexts,
    "id project_id agent_id agent_type session_id status progress_summary compact_id "
    "role_context:object trigger:str? token_count:int? last_updated:str",
    skills_to_restore=list[Any],
    tools_used=list[Any],
)
answer("ContextFigures", "total:int unique_types:int running:int completed:int failed:int")
OfType = answer("AgentTypeContexts", "agent_type:str count:int")
ContextList = answer(
    "AgentContextList",
    "timestamp:str contexts:AgentContext[] stats:ContextFigures "
    "type_distribution:AgentTypeContexts[]",
    Paged,
)
ContextOverview = answer(
    "ContextOverview",
    "timestamp:str overview:ContextFigures top_types:AgentTypeContexts[] "
    "recent_activity:AgentContext[] tools_used:int{}",
)


@router.reads("/api/agent-contexts", ContextList)
def list_contexts(
    connection: Connection,
    agent_id: fields.WordQuery = None,
    agent_type: fields.WordQuery = None,
    status: fields.WordQuery = None,
    session_id: fields.WordQuery = None,
    project_id: fields.IdQuery = None,
    limit: fields.LargeLimit = 100,
    offset: fields.Offset = 0,
) -> Row:
    """What is known of agents; snapshots have the type `compact-snapshot`."""
    wanted = {"agent_id": agent_id, "agent_type": agent_type, "status": status}
    place = {"session_id": session_id, "project_id": project_id}
    page = contexts.list_page(connection, limit, offset, **wanted, **place)
    return {
        "contexts": [_context(row) for row in page.rows],
        **paging(page),
        **contexts.figures(connection),
        "timestamp": row_times.to_iso(row_times.now_ms()),
    }


class ProgressReport(fields.Body):
    """What an agent says of its own work; it stands in `role_context` of its context."""

    progress: Annotated[int, Field(ge=0, le=100)] | fields.Text | None = Field(
        None, description="in percent, or in words"
    )
    next_steps: fields.Texts | None = None
    language: fields.Text | None = None
    framework: fields.Text | None = None
    progress_summary: fields.Text | None = None


ReportMade = answer("AgentReported", "success:bool context:AgentContext")


@router.writes("PATCH", "/api/agent-contexts/{context_id}", ReportMade)
def report(connection: Connection, context_id: fields.IdPath, body: ProgressReport) -> Row:
    """Report how far an agent is. `current_task`, `blockers`, `spawned_at` and `tool_counts` of its
    `role_context` follow its subtask and its calls. With another task, `progress`, `next_steps` and
    `progress_summary` begin anew."""
    if not body.given:
        raise Refused("No fields to update")
    row = contexts.report(connection, str(context_id), body.given, row_times.now_ms())
    return {"success": True, "context": _context(row)}


@router.reads("/api/agent-contexts/stats", ContextOverview)
def stats(connection: Connection) -> Row:
    """Figures of all contexts, and the newest ten."""
    figures = contexts.figures(connection)
    newest = contexts.list_page(connection, 10, 0)
    return {
        "overview": figures["stats"],
        "top_types": figures["type_distribution"][:10],
        "recent_activity": [_context(row) for row in newest.rows],
        "tools_used": contexts.tools_used(connection),
        "timestamp": row_times.to_iso(row_times.now_ms()),
    }


def _context(row: Row) -> dict[str, Any]:
    """The tokens of a snapshot are estimated from the characters of its JSON."""
    role = row["role_context"] if isinstance(row["role_context"], dict) else {}
    more: Row = {"role_context": role, "trigger": None, "token_count": None}
    if row["agent_type"] == contexts.SNAPSHOT:
        chars = len(msgspec.json.encode(role).decode())
        more |= {"trigger": role.get("trigger"), "token_count": round(chars / CHARS_PER_TOKEN)}
    shown: dict[str, Any] = Context.of({**row, **more})
    return shown

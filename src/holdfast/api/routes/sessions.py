"""`/api/sessions` and `/api/active-sessions`: who works and has worked; `/api/actions`: the tool
calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field
from sqlalchemy.engine import Connection

from holdfast.api import fields
from holdfast.api.responses import CONFLICT, Noun, Paged, Router, answer, paging, row_answer
from holdfast.hub import row_times
from holdfast.hub.store import tables
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree import sessions, work

router = Router(tags=["sessions"])
COLUMNS = {"started_at": "started_ms", "ended_at": "ended_ms"}


class SessionChange(fields.Body):
    ended_at: fields.TimeMs | None = None
    total_tools_used: fields.Natural | None = None
    total_success: fields.Natural | None = None
    total_errors: fields.Natural | None = None

    def normalized(self) -> dict[str, Any]:
        """With the names of columns. `ended_at: null` re-opens a session."""
        given = super().normalized()
        if self.ended_at is None and "ended_at" in self.model_fields_set:
            given["ended_at"] = None
        return {COLUMNS.get(name, name): value for name, value in given.items()}


class NewSession(SessionChange):
    id: fields.Word
    project_id: fields.Id | None = None
    started_at: fields.TimeMs | None = None


SessionRow = row_answer(
    "Session",
    tables.sessions,
    "id project_id started_at ended_at total_tools_used total_success total_errors",
)
ListedSession = answer("ListedSession", "title:str?", SessionRow)
Asked = row_answer("SessionRequest", tables.requests, "id prompt prompt_type status created_at")


def _list(connection: Connection, limit: int, offset: int, **wanted: Any) -> Page:
    page = sessions.list_page(connection, limit, offset, now_ms=row_times.now_ms(), **wanted)
    titles = sessions.titles(connection, {row["id"] for row in page.rows})
    return replace(page, rows=[{**row, "title": titles.get(row["id"])} for row in page.rows])


def _last_requests(connection: Connection, session_id: str) -> list[Row]:
    return work.latest_requests(connection, 20, session_id=session_id)


session = Noun(
    router, "/api/sessions", "session", "sessions", SessionRow, bare=True, key=fields.SessionPath
)
session.create(
    NewSession, sessions.add, "Add a session; an existing id is a conflict.", responses=CONFLICT
)
session.list(
    _list,
    "Newest first, each with its first request as its title. Active sessions have not ended, or "
    "ended less than half an hour ago.",
    row=ListedSession,
    usual=50,
    project_id=fields.Id,
    active_only=bool,
)
SessionOverview = answer(
    "SessionOverview",
    "total_sessions:int active_sessions:int total_tools:int total_tools_used:int "
    "total_success:int total_errors:int avg_tools_per_session:float oldest_session:str? "
    "newest_session:str?",
)
ProjectSessions = answer(
    "ProjectSessions", "project_name:str? project_path:str session_count:int total_tools:int"
)
Stats = answer(
    "SessionStats", "timestamp:str overview:SessionOverview by_project:ProjectSessions[]"
)


@router.reads("/api/sessions/stats", Stats)
def stats(connection: Connection) -> Row:
    """Totals of all sessions, and by project."""
    now = row_times.now_ms()
    return {**sessions.stats(connection, now), "timestamp": row_times.to_iso(now)}


words = "The session and its last 20 requests."
session.get(sessions.get, _last_requests, "requests", Asked, words)
session.change(
    SessionChange,
    sessions.change,
    "End a session, re-open it (`ended_at: null`), or set its totals.",
)
session.remove(sessions.remove, "Delete the session.")

ActiveAgent = row_answer(
    "ActiveAgent",
    tables.subtasks,
    "agent_type agent_id description started_at created_at session_id subtask_id:str? "
    "request_id:str? project_path:str? project_name:str? actions_count:int",
)
ActiveSession = answer("ActiveSession", "project_path:str? project_name:str?", SessionRow)
ActiveSessions = answer(
    "ActiveSessionList",
    "agents_count:int active_agents:ActiveAgent[] active_sessions:ActiveSession[]",
    Paged,
)


@router.reads("/api/active-sessions", ActiveSessions)
def get_active(connection: Connection, limit: fields.Limit = 100, offset: fields.Offset = 0) -> Row:
    """Running agents and active sessions. If no agent runs, the sessions are listed as agents.
    `count` and `total` count sessions; `agents_count` counts running agents."""
    page = sessions.live_sessions(connection, limit, offset, row_times.now_ms())
    running = sessions.agents_at_work(connection, limit, offset)
    agents = running or [sessions.session_as_agent(row) for row in page.rows]
    return {
        "active_agents": ActiveAgent.of_each(agents),
        "active_sessions": ActiveSession.of_each(page.rows),
        "agents_count": len(running),
        **paging(page),
    }


ToolType = Literal["builtin", "agent", "skill", "command", "mcp"]
Many = Annotated[int, Query(ge=1, le=fields.MOST_INT), fields.at_most(5_000)]
MOST_DURATION_MS = 10**12
ActionMade = row_answer(
    "Action",
    tables.actions,
    "id tool_name tool_type exit_code duration_ms created_at session_id",
    keywords_extracted=Annotated[int, Field(ge=0, le=sessions.MOST_KEYWORDS)],
)
ActionRow = answer("ListedAction", "file_paths:str[] subtask_id:str? keywords:str[]", ActionMade)


class NewAction(fields.Body):
    tool_name: fields.Word
    tool_type: ToolType
    input: fields.Text | None = None
    output: fields.Text | None = None
    exit_code: Annotated[int, Field(ge=-fields.MOST_INT, le=fields.MOST_INT)] | None = None
    duration_ms: Annotated[int, Field(ge=0, le=MOST_DURATION_MS)] | None = None
    file_paths: fields.Texts | None = None
    subtask_id: fields.Id | None = None
    session_id: fields.Word | None = None
    agent_id: fields.Word | None = None
    project_path: fields.FilePath | None = None


action = Noun(router, "/api/actions", "action", "actions", ActionMade)
action.create(
    NewAction,
    sessions.add_action,
    "Record one tool call. Its project (by path) and session are created if they are new.",
)
action.list(
    sessions.list_actions,
    "Newest first.",
    row=ActionRow,
    most=Many,
    session_id=fields.Name,
    tool_type=ToolType,
    tool_name=fields.Name,
    project_id=fields.Id,
)
Hour = answer("Hour", "hour:str count:int")
ToolCount = answer("ToolCount", "tool_name:str tool_type:str count:int")


@router.reads("/api/actions/hourly", answer("Hourly", "period:str data:Hour[]"))
def hourly(connection: Connection, session_id: fields.WordQuery = None) -> Row:
    """Count the calls in each hour of the last day."""
    return {"data": sessions.hourly(connection, row_times.now_ms(), session_id), "period": "24h"}


@router.reads("/api/actions/top-tools", answer("TopTools", "limit:int data:ToolCount[]"))
def top_tools(
    connection: Connection, tool_type: ToolType | None = None, limit: fields.Limit = 10
) -> Row:
    """The tools called most among the newest 10,000 calls."""
    return {"data": sessions.top_tools(connection, limit, tool_type), "limit": limit}

"""`/api/sessions`, and `/api/active-sessions`: sessions and agents that work now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import (
    Body,
    Id,
    IdQuery,
    Limit,
    Natural,
    Offset,
    SessionPath,
    TimeMs,
    Word,
)
from holdfast.api.responses import (
    CONFLICT,
    NOT_FOUND,
    ApiAnswer,
    Paged,
    Router,
    RowAnswer,
    no_content,
    paging,
    respond,
)
from holdfast.hub import row_times
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree import sessions
from holdfast.hub.tree.capacity import session_titles
from holdfast.hub.tree.requests import latest
from holdfast.hub.tree.sessions import agents_at_work, live_sessions, session_as_agent

router = Router(prefix="/api/sessions", tags=["sessions"])
COLUMNS = {"started_at": "started_ms", "ended_at": "ended_ms"}


class SessionChange(Body):
    ended_at: TimeMs | None = None
    total_tools_used: Natural | None = None
    total_success: Natural | None = None
    total_errors: Natural | None = None


class NewSession(SessionChange):
    id: Word
    project_id: Id | None = None
    started_at: TimeMs | None = None


class SessionRow(RowAnswer):
    id: str
    project_id: str | None
    started_at: str
    ended_at: str | None
    total_tools_used: int
    total_success: int
    total_errors: int


class SessionQuery(RowAnswer):
    id: str
    prompt: str
    prompt_type: str
    status: str
    created_at: str


class SessionWithRequests(SessionRow):
    requests: list[SessionQuery]


class SessionOverview(ApiAnswer):
    total_sessions: int
    active_sessions: int
    total_tools: int
    total_tools_used: int
    total_success: int
    total_errors: int
    avg_tools_per_session: float
    oldest_session: str | None
    newest_session: str | None


class ProjectSessions(ApiAnswer):
    project_name: str | None
    project_path: str
    session_count: int
    total_tools: int


class SessionStats(ApiAnswer):
    overview: SessionOverview
    by_project: list[ProjectSessions]
    timestamp: str


class ListedSession(SessionRow):
    """`title` is the first request of the session."""

    title: str | None


class SessionList(Paged):
    sessions: list[ListedSession]


@router.post("", status_code=201, response_model=SessionRow, responses={**NOT_FOUND, **CONFLICT})
async def post(body: NewSession, db: Db) -> Response:
    """Add a session; an existing id is a conflict."""
    now, row = row_times.now_ms(), columns(body.model_dump(exclude_none=True))
    return respond(SessionRow.of(await db.write(lambda c: sessions.add(c, row, now))), 201)


@router.get("", response_model=SessionList)
async def listed(
    db: Db,
    project_id: IdQuery = None,
    active_only: bool = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Newest first. Active sessions have not ended, or ended less than half an hour ago."""
    now = row_times.now_ms()

    def both(connection: Connection) -> tuple[Page, dict[str, str]]:
        page = sessions.list_page(
            connection, limit, offset, now_ms=now, project_id=project_id, active_only=active_only
        )
        return page, session_titles(connection, {row["id"] for row in page.rows})

    page, titles = await db.read(both)
    found = [ListedSession.of(row, title=titles.get(row["id"])) for row in page.rows]
    return respond({"sessions": found, **paging(page)})


@router.get("/stats", response_model=SessionStats)
async def stats(db: Db) -> Response:
    """Totals of all sessions, and by project."""
    now = row_times.now_ms()
    found = await db.read(lambda c: sessions.stats(c, now))
    return respond({**found, "timestamp": row_times.to_iso(now)})


@router.get("/{session_id:text}", response_model=SessionWithRequests, responses=NOT_FOUND)
async def get(session_id: SessionPath, db: Db) -> Response:
    """The session and its last 20 requests."""

    def both(connection: Connection) -> tuple[Row, list[Row]]:
        row = sessions.get(connection, session_id)
        return row, latest(connection, 20, session_id=session_id)

    row, request_rows = await db.read(both)
    last = [SessionQuery.of(one) for one in request_rows]
    return respond({**SessionRow.of(row), "requests": last})


@router.patch("/{session_id:text}", response_model=SessionRow, responses=NOT_FOUND)
async def patch(session_id: SessionPath, body: SessionChange, db: Db) -> Response:
    """End a session, re-open it (`ended_at: null`), or set its totals."""
    changes = columns(body.model_dump(exclude_unset=True))
    given = {name: value for name, value in changes.items() if _may_set(name, value)}
    return respond(SessionRow.of(await db.write(lambda c: sessions.change(c, session_id, given))))


@router.delete("/{session_id:text}", status_code=204, response_class=Response, responses=NOT_FOUND)
async def remove(session_id: SessionPath, db: Db) -> Response:
    await db.write(lambda c: sessions.remove(c, session_id))
    return no_content()


def columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {COLUMNS.get(name, name): value for name, value in values.items()}


def _may_set(name: str, value: Any) -> bool:
    return value is not None or name == "ended_ms"


active_router = Router(prefix="/api/active-sessions", tags=["sessions"])


class ActiveAgent(RowAnswer):
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


class ActiveSession(SessionRow):
    project_path: str | None
    project_name: str | None


class ActiveSessionList(Paged):
    """`count` and `total` count sessions; `agents_count` counts running agents."""

    active_agents: list[ActiveAgent]
    active_sessions: list[ActiveSession]
    agents_count: int


@active_router.get("", response_model=ActiveSessionList, name="get")
async def get_active(db: Db, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Running agents and active sessions. If no agent runs, the sessions are listed as agents."""
    now = row_times.now_ms()

    def both(connection: Connection) -> tuple[list[Row], Page]:
        page = live_sessions(connection, limit, offset, now)
        return agents_at_work(connection, limit, offset), page

    running, page = await db.read(both)
    shown_agents = running or [session_as_agent(row) for row in page.rows]
    return respond(
        {
            "active_agents": [ActiveAgent.of(row) for row in shown_agents],
            "active_sessions": [ActiveSession.of(row) for row in page.rows],
            "agents_count": len(running),
            **paging(page),
        }
    )

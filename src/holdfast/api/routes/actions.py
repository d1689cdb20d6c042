"""`/api/actions`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import Field, PrivateAttr

from holdfast.api.database import Db
from holdfast.api.fields import (
    MOST_INT,
    Body,
    FilePath,
    Id,
    IdQuery,
    Limit,
    Offset,
    UncheckedText,
    UncheckedTexts,
    Word,
    WordQuery,
    at_most,
    clean_fields,
)
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Paged, Router, RowAnswer, paging, respond
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import actions

router = Router(prefix="/api/actions", tags=["actions"])
ToolType = Literal["builtin", "agent", "skill", "command", "mcp"]
Many = Annotated[int, Query(ge=1, le=MOST_INT), at_most(5_000)]
MOST_DURATION_MS = 10**12
TEXTS = ("input", "output", "file_paths")


class NewAction(Body):
    tool_name: Word
    tool_type: ToolType
    input: UncheckedText | None = None
    output: UncheckedText | None = None
    exit_code: Annotated[int, Field(ge=-MOST_INT, le=MOST_INT)] | None = None
    duration_ms: Annotated[int, Field(ge=0, le=MOST_DURATION_MS)] | None = None
    file_paths: UncheckedTexts | None = None
    subtask_id: Id | None = None
    session_id: Word | None = None
    agent_id: Word | None = None
    project_path: FilePath | None = None
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _context: Any, /) -> None:
        """Look for secrets in all texts at once: each search takes 0.1 ms, however short they
        are."""
        given = self.model_dump(exclude_none=True)
        texts = {name: given[name] for name in TEXTS if name in given}
        self._given = given | clean_fields(texts, {})

    @property
    def given(self) -> dict[str, Any]:
        """What was sent, without secrets."""
        return self._given


class ActionRecorded(RowAnswer):
    id: str
    tool_name: str
    tool_type: str
    exit_code: int
    duration_ms: int | None
    created_at: str
    session_id: str | None
    keywords_extracted: Annotated[int, Field(ge=0, le=actions.MOST_KEYWORDS)]


class ActionMade(ApiAnswer):
    success: bool
    action: ActionRecorded


class Action(RowAnswer):
    id: str
    tool_name: str
    tool_type: str
    exit_code: int
    duration_ms: int | None
    file_paths: list[str]
    created_at: str
    session_id: str | None
    subtask_id: str | None
    keywords: list[str]
    keywords_extracted: int


class ActionList(Paged):
    actions: list[Action]


class Hour(ApiAnswer):
    hour: str
    count: int


class Hourly(ApiAnswer):
    data: list[Hour]
    period: Literal["24h"]


class ToolCount(ApiAnswer):
    tool_name: str
    tool_type: str
    count: int


class TopTools(ApiAnswer):
    data: list[ToolCount]
    limit: int


@router.post("", status_code=201, response_model=ActionMade, responses=NOT_FOUND)
async def post(body: NewAction, db: Db) -> Response:
    """Record one tool call. Its project (by path) and session are created if they are new."""
    draft = actions.draft(body.given, row_times.now_ms())
    row = await db.write(lambda c: actions.add(c, draft, body.project_path))
    action = ActionRecorded.of(row, keywords_extracted=len(row["keywords"]))
    return respond({"success": True, "action": action}, 201)


@router.get("", response_model=ActionList)
async def listed(
    db: Db,
    session_id: WordQuery = None,
    tool_type: ToolType | None = None,
    tool_name: WordQuery = None,
    project_id: IdQuery = None,
    limit: Many = 100,
    offset: Offset = 0,
) -> Response:
    """Newest first."""
    wanted = {
        "session_id": session_id,
        "tool_type": tool_type,
        "tool_name": tool_name,
        "project_id": project_id,
    }
    page = await db.read(lambda c: actions.list_page(c, limit, offset, **wanted))
    return respond({"actions": [answer_for(row) for row in page.rows], **paging(page)})


@router.get("/hourly", response_model=Hourly)
async def hourly(db: Db, session_id: WordQuery = None) -> Response:
    """Count the calls in each hour of the last day."""
    now = row_times.now_ms()
    data = await db.read(lambda c: actions.hourly(c, now, session_id))
    return respond({"data": data, "period": "24h"})


@router.get("/top-tools", response_model=TopTools)
async def top_tools(db: Db, tool_type: ToolType | None = None, limit: Limit = 10) -> Response:
    """The tools called most among the newest 10,000 calls."""
    data = await db.read(lambda c: actions.top_tools(c, limit, tool_type))
    return respond({"data": data, "limit": limit})


def answer_for(row: Row) -> dict[str, Any]:
    return Action.of(row, keywords_extracted=len(row["keywords"] or []))

"""`/api/compactions`: what each compaction cost, and what was restored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Path, Response
from sqlalchemy.engine import Connection

from holdfast.api.fields import MOST_INT, IdQuery, Limit, Offset, SessionPath, WordQuery
from holdfast.api.responses import Db, Paged, Router, answer, paging, respond
from holdfast.api.routes.machine.files import read_files, state_of
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import audit, readings
from holdfast.session import history
from holdfast.session.history import SummaryCounts
from holdfast.session.summary_report import compaction_report
from holdfast.transcript import Unreadable

router = Router(prefix="/api/compactions", tags=["compactions"])
Number = Annotated[int, Path(ge=1, le=MOST_INT)]
NOTHING: dict[str, Any] = {
    "summary": None,
    "instructions": None,
    "items": [],
    "brief": [],
    "second_brief": [],
}
ELSEWHERE = "its transcript is not on this machine: this is what its hooks reported"
GONE = "its transcript is not there any more: this is what the hooks reported"


CompactionPlace = answer(
    "CompactionPlace",
    "session_id:str agent_id:str? project_id:str? number:int at:str? step:int? trigger:str? "
    "before_tokens:int? after_tokens:int? edge_tokens:int? is_read:bool was_given:bool",
    doc="`is_read` is false until the summary was compared. `was_given`: the model got the "
    "briefs; else what is called restored would have been. Tokens are null if they are "
    "unknown.",
)


CompactionCounts = answer(
    "CompactionCounts",
    "items:int? not_found:int? restored:int?",
    doc="Null until the summary was compared, and where the client left none.",
)


CompactionRow = answer("CompactionRow", "title:str?", CompactionPlace, CompactionCounts)


CompactionList = answer("CompactionList", "compactions:CompactionRow[]", Paged)


SourcePlace = answer(
    "SourcePlace",
    "at:str? step:int? turn:int?",
    doc="The place in the session: time, step and turn; null if it has none.",
)


CompactedItem = answer(
    "CompactedItem",
    "kind:str text:str reason:str share:float is_found:bool passage:str by_meaning:bool "
    "restored_in:str? line:int? why_not:str?",
    SourcePlace,
    doc="`share` of it is held by the summary, most of it in `passage`, by its words or its "
    "meaning. `restored_in` is `brief` or `second_brief`, and `line` is the place in it.",
)


RestoredLine = answer(
    "RestoredLine",
    "line:str reason:str",
    SourcePlace,
    doc="A line without a reason is a heading, or part of the frame.",
)


CompactionParts = answer(
    "CompactionParts",
    "always_tokens:int? summary_tokens:int? restored_tokens:int? brief_tokens:int?",
    doc="The parts of the new window. `always_tokens`: system prompt, tools, and files read "
    "again. Where no brief was given, nothing was restored; `brief_tokens` is what it would "
    "have been.",
)


CompactionDetail = answer(
    "CompactionDetail",
    "total:int is_available:bool note:str? summary:str? instructions:str? parts:CompactionParts "
    "counts:CompactionCounts items:CompactedItem[] brief:RestoredLine[] "
    "second_brief:RestoredLine[]",
    CompactionPlace,
    doc="`summary` is null where the client left none. Where `is_available` is false, `note` "
    "says why, lists are empty, and counts are those of the hooks.",
)


@router.get("", response_model=CompactionList)
async def listed(
    db: Db,
    project_id: IdQuery = None,
    session_id: WordQuery = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Newest first. `title`: of the session, where this machine has its transcript."""
    figures = (await read_files(history.load)).values()
    titles = {one.session_id: one.title or None for one in figures}

    def look(connection: Connection) -> dict[str, Any]:
        page = readings.list_compactions(
            connection, limit, offset, project_id=project_id, session_id=session_id
        )
        counts = counts_of(connection, page.rows)
        pairs = zip(page.rows, counts, strict=True)
        rows = [
            {**_row(connection, row), **count, "title": titles.get(row["session_id"])}
            for row, count in pairs
        ]
        return {"compactions": rows, **paging(page)}

    return respond(await db.read(look))


@router.get("/{session_id:text}/{number}", response_model=CompactionDetail)
async def get(session_id: SessionPath, number: Number, db: Db, agent: WordQuery = None) -> Response:
    """One compaction of a session's window, or of one of its agents': how much of each item its
    summary holds, least found first, and every line that was restored with the reason for it."""

    def look(connection: Connection) -> tuple[dict[str, Any], dict[str, Any], int]:
        known = readings.compactions_of(connection, session_id, agent or "")
        row = next((row for row in known if row["number"] == number), None)
        if row is None:
            raise NotThere("Compaction")
        return _row(connection, row), counts_of(connection, [row])[0], len(known)

    row, counts, total = await db.read(look)
    report, note = await read_files(_report, session_id, agent or "", number)
    counts |= history.counts_in(report) if report else {}
    told = report or {**NOTHING, "was_given": counts["was_given"]}
    return respond(
        {
            **row,
            **{name: told[name] for name in ("was_given", *NOTHING)},
            "is_read": counts["is_read"],
            "counts": {name: counts[name] for name in CompactionCounts.model_fields},
            "total": total,
            "is_available": report is not None,
            "note": note,
            "parts": _parts(report, row["after_tokens"]),
        }
    )


def _report(
    session_id: str, agent_id: str, number: int
) -> tuple[dict[str, Any] | None, str | None]:
    """Read the report from the transcript, or say why it cannot be read."""
    state = state_of(session_id, agent_id)
    if state is None:
        return None, ELSEWHERE
    try:
        report = compaction_report(FilePath(state.transcript), number, sidechain=bool(agent_id))
    except (OSError, Unreadable, ValueError):
        return None, GONE
    return report, None if report else GONE


def _row(connection: Connection, row: Row) -> dict[str, Any]:
    """Make the row. If the client does not say how full the window was afterwards, the next
    step's reading is used."""
    after, limit = row["after_tokens"], None
    if row["step"] is not None:
        around = readings.list_readings(
            connection, row["session_id"], row["agent_id"], row["step"], row["step"] + 8
        )
        later = [reading for reading in around if reading.step > row["step"]]
        after = after or (later[0].used_tokens if later else None)
        limit = around[0].limit_tokens if around else None
    names = ("session_id", "project_id", "number", "step", "trigger", "before_tokens")
    return {
        **{name: row[name] for name in names},
        "agent_id": row["agent_id"] or None,
        "at": row_times.to_iso(row["at_ms"]),
        "after_tokens": after,
        "edge_tokens": limit,
    }


def counts_of(connection: Connection, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the counts of each compaction: as its transcript has them, which its page shows too;
    else as its hooks reported them."""
    known = history.compactions()
    return [
        _counts(None if row["agent_id"] else known.get((row["session_id"], row["number"])), noted)
        for row, noted in zip(rows, audit.summary_checks(connection, rows), strict=True)
    ]


def _counts(known: SummaryCounts | None, noted: dict[str, Any]) -> dict[str, Any]:
    names = CompactionCounts.model_fields
    if known is not None and known.is_read:
        about = {"is_read": True, "was_given": known.was_given}
        return {**about, **{name: getattr(known, name) for name in names}}
    counts = {name: _number(noted.get(name)) for name in names}
    return {"is_read": counts["items"] is not None, "was_given": bool(noted), **counts}


def _number(value: object) -> int | None:
    """What another machine has sent may be anything."""
    return value if type(value) is int else None


def _parts(report: dict[str, Any] | None, after: int | None) -> dict[str, Any]:
    """Divide the new window: what is neither the summary nor ours was there before, or the
    client read it again."""
    if report is None:
        return dict.fromkeys(CompactionParts.model_fields)
    restored = report["restored_tokens"] if report["was_given"] else 0
    always = max(0, after - report["summary_tokens"] - restored) if after is not None else None
    return {
        "always_tokens": always,
        "summary_tokens": report["summary_tokens"],
        "restored_tokens": restored,
        "brief_tokens": report["restored_tokens"],
    }

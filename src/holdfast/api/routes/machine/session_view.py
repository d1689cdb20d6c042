"""`/api/sessions/{id}/turns` and `/state`: what a session is about, from its record."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Query, Response
from pydantic import AfterValidator
from sqlalchemy.engine import Connection

from holdfast.api.fields import Limit, Offset, SessionPath, WordQuery, plain
from holdfast.api.responses import ApiAnswer, Db, Paged, Router, answer, respond
from holdfast.api.routes.machine.compactions import SourcePlace
from holdfast.api.routes.machine.files import read_files, state_of
from holdfast.budget import ledger
from holdfast.client.instructions import collect_marked_rules
from holdfast.files.git import run_git
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import readings, sessions, work
from holdfast.hub.tree.readings import UsedAtStep
from holdfast.record import commands, open_items, storage
from holdfast.record import turns as record_turns
from holdfast.record.model import Place, Record, Turn
from holdfast.record.reader import RecordReader
from holdfast.record.turns import FIRST_TURNS, answered, place_of
from holdfast.redact.find import redact
from holdfast.session import window_brief
from holdfast.settings import load as settings_load
from holdfast.transcript import Unreadable
from holdfast.window.live_windows import is_live
from holdfast.window.measurement import of_transcript
from holdfast.window.state import State
from holdfast.wire import places

View = TypeVar("View")
router = Router(prefix="/api/sessions", tags=["sessions"])
ELSEWHERE = "its transcript is not on this machine"
GONE = "its transcript is not there any more"
DIFF_SAFE = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
DIFF_BYTES, DIFF_SECONDS = 200_000, 5.0
MOST_FILES, MOST_DECISIONS, MOST_AGENTS = 200, 80, 100
NO_READINGS: dict[str, Any] = {"window": 1, "tokens_added": None}
MARKED = "marked in an instruction file"
TYPED = "you typed it"
LISTS = ("failures", "tasks", "questions", "rules", "decisions", "files", "agents")
ABOUT = ("step", "at", "used_tokens", "edge_tokens", "estimated", "call")
NOTHING: dict[str, Any] = {**dict.fromkeys(ABOUT), **{name: [] for name in LISTS}}


TurnQuestion = answer("TurnQuestion", "text:str answer:str")


SessionTurn = answer(
    "SessionTurn",
    "number:int? window:int asked:str answers:str is_cut:bool at:str? step:int? steps:int? "
    "tokens_added:int? said:str? edited:str[] interrupted:bool waits:bool taken_back:bool "
    "questions:TurnQuestion[]",
    doc="From one thing the user typed to the next. `window` 1 is before the first compaction; "
    "`step` is the first of the turn; `answers`: what short words answer; `waits`: typed "
    "while the model worked, and not delivered yet. Where only the request is known, the rest "
    "is null.",
)


SessionTurnList = answer(
    "SessionTurnList",
    "session_id:str agent_id:str? is_available:bool note:str? turns:SessionTurn[]",
    Paged,
    doc="Where `is_available` is false, `note` says why, and turns are the requests that are "
    "known.",
)


OpenCallNow = answer("OpenCallNow", "tool:str what:str", SourcePlace)


FailingCommand = answer("FailingCommand", "command:str lines:str[]", SourcePlace)


OpenTask = answer("OpenTask", "text:str status:str source:str", SourcePlace)


PlacedText = answer("PlacedText", "text:str", SourcePlace)


RuleInForce = answer("RuleInForce", "reason:str answers:str", PlacedText)


UsedFile = answer("UsedFile", "path:str reads:int edits:int gone:bool step:int")


SubagentReport = answer("SubagentReport", "kind:str asked:str status:str answer:str", SourcePlace)


SessionState = answer(
    "SessionState",
    "session_id:str agent_id:str? is_available:bool note:str? step:int? at:str? "
    "used_tokens:int? edge_tokens:int? estimated:bool? "
    "call:OpenCallNow? failures:FailingCommand[] tasks:OpenTask[] questions:PlacedText[] "
    "rules:RuleInForce[] decisions:PlacedText[] files:UsedFile[] agents:SubagentReport[]",
    doc="What is open, what fails, what was decided and used. `call`: the one without a result; "
    "`used_tokens`: as `holdfast status` says it, with what came after the last answer.",
)


FileDiff = answer(
    "FileDiff",
    "path:str since:str? diff:str",
    doc="As git has it: `since` names the commit that it is against, or the one that it is of; "
    "null where git knows the file not at all.",
)


@router.get("/{session_id:text}/diff", response_model=FileDiff)
async def diff(
    session_id: SessionPath,
    db: Db,
    path: Annotated[str, Query(min_length=1, max_length=4_096), AfterValidator(plain)],
    agent: WordQuery = None,
) -> Response:
    """How git shows a file that the session edited: what is not committed, else its last commit."""
    await db.read(lambda c: sessions.get(c, session_id))
    found, _ = await read_files(_view_of, partial(_diff_of, path), session_id, agent or "")
    if found is None:
        raise NotThere("File that this session edited")
    return respond({"path": path, **found})


@router.get("/{session_id:text}/turns", response_model=SessionTurnList)
async def turns(
    session_id: SessionPath, db: Db, agent: WordQuery = None, limit: Limit = 50, offset: Offset = 0
) -> Response:
    """Newest first: what was asked, and what came of it."""

    def look(connection: Connection) -> tuple[list[Row], list[UsedAtStep], list[Row]]:
        sessions.get(connection, session_id)
        freed = readings.compactions_of(connection, session_id, agent or "")
        page = work.list_requests(connection, 1000, 0, session_id=session_id)
        return freed, readings.list_readings(connection, session_id, agent or ""), list(page.rows)

    freed, read, request_rows = await db.read(look)
    found, note = await read_files(_view_of, turns_of, session_id, agent or "")
    if found is None:
        found = [_from_request(row) for row in reversed(request_rows if agent is None else [])]
    some = found[::-1][offset : offset + limit]
    figures = {"count": len(some), "total": len(found), "limit": limit, "offset": offset}
    return respond(
        {
            **_whose(session_id, agent, note),
            "turns": [{**one, **_with_tokens(one, freed, read)} for one in some],
            **figures,
        }
    )


@router.get("/{session_id:text}/state", response_model=SessionState)
async def state(session_id: SessionPath, db: Db, agent: WordQuery = None) -> Response:
    """What stands now: open tasks, failing commands, questions, rules, files, the open call."""
    await db.read(lambda c: sessions.get(c, session_id))
    found, note = await read_files(_view_of, state_now, session_id, agent or "")
    return respond({**_whose(session_id, agent, note), **(found or NOTHING)})


def _whose(session_id: str, agent: str | None, note: str | None) -> dict[str, Any]:
    who = {"session_id": session_id, "agent_id": agent}
    return {**who, "is_available": note is None, "note": note}


def _view_of(
    view: Callable[[State, str], View], session_id: str, agent_id: str
) -> tuple[View | None, str | None]:
    """What the record of a window on this machine tells, or why it cannot."""
    known = state_of(session_id, agent_id)
    if known is None:
        return None, ELSEWHERE
    try:
        return view(known, places.window(session_id, agent_id)), None
    except (OSError, Unreadable):
        return None, GONE


def _from_request(row: Row) -> Any:
    """All that is known of a turn without its transcript."""
    about = {"step": None, "is_cut": False, "at": row_times.to_iso(row["created_ms"])}
    nothing = {"number": None, "steps": None, "said": None, **NO_READINGS, **about}
    answers = (row["metadata"] or {}).get("answers", "")
    return SessionTurn.of(Turn(row["prompt"], Place()), answers=answers, **nothing)


def _with_tokens(turn: dict[str, Any], freed: list[Row], read: list[UsedAtStep]) -> dict[str, Any]:
    """The window it was typed in, and the tokens its steps added."""
    at_ms = row_times.from_iso(turn["at"]) if turn["at"] else None
    before = sum(at_ms is not None and row["at_ms"] <= at_ms for row in freed)
    return {
        "window": 1 + before,
        "tokens_added": _added_tokens(turn, read) if turn["steps"] else None,
    }


def _added_tokens(turn: dict[str, Any], read: list[UsedAtStep]) -> int | None:
    """By the readings from before its first step to its last; what a compaction freed in between
    is not counted. None where they do not reach so far."""
    first, last = turn["step"] - 1, turn["step"] + turn["steps"] - 1
    begin = bisect_left(read, first, key=lambda one: one.step)
    end = bisect_right(read, last, key=lambda one: one.step)
    used = [one.used_tokens for one in read[begin:end]]
    if len(used) < 2:
        return None
    return sum(max(0, after - before) for before, after in pairwise(used))


def turns_of(state: State, folder: str) -> list[dict[str, Any]]:
    """Oldest first. `step` is the first of a turn, `steps` how many it has so far."""
    record = _record(state, folder)
    ends = [*(turn.place.op for turn in record.turns[1:]), record.op]
    pairs = zip(record.turns, ends, strict=False)  # before the first prompt there is no turn
    return [_turn(record, n, turn, end) for n, (turn, end) in enumerate(pairs)]


def _record(state: State, folder: str) -> Record:
    """Continue the record of a window of hooks; that of a past session is not saved."""
    if state.was_live:
        return storage.read_on(state, folder)
    about = Path(state.transcript).stat()
    return _past_record(state.transcript, about.st_size, about.st_mtime_ns)


@lru_cache(8)
def _past_record(transcript: str, _size: int, _changed_ns: int) -> Record:
    return RecordReader().read_redacted(transcript)


def _turn(record: Record, at: int, turn: Turn, end: int) -> Any:
    return SessionTurn.of(
        turn,
        number=at + 1 + (record.turns_dropped if at >= FIRST_TURNS else 0),
        **NO_READINGS,
        answers=answered(turn.asked, turn.reply_to),
        waits=record_turns.waits(record, at),
        is_cut=turn.chars > len(turn.asked),
        at=turn.place.at or None,
        step=turn.place.op + 1,
        steps=max(0, end - turn.place.op),
        questions=[TurnQuestion.of(question) for question in turn.questions],
    )


def state_now(state: State, folder: str) -> dict[str, Any]:
    """What is open, what fails, which rules hold, and the call that has no result yet."""
    record = _record(state, folder)
    now_ms = row_times.now_ms()
    seen = of_transcript(state, settings_load.load(state.project), now_ms, folder)

    def placed(model: type[ApiAnswer], item: Any, **more: Any) -> dict[str, Any]:
        return model.of(item, **place_of(record, item.place), **more)

    def each(model: type[ApiAnswer], items: Iterable[Any]) -> list[dict[str, Any]]:
        return [placed(model, item) for item in items]

    is_running = is_live(folder, state, now_ms)
    calls = open_items.calls(record)[-1:] if is_running else []  # of a past session it is over
    return {
        "step": record.op,
        "at": record.at or None,
        "used_tokens": seen.reading.used_tokens,
        "edge_tokens": seen.edge.edge_tokens,
        "estimated": seen.reading.estimated,
        "call": next(iter(each(OpenCallNow, calls)), None),
        "failures": [
            placed(FailingCommand, failed, command=line)
            for line, failed in commands.failing(record)
        ],
        "tasks": each(OpenTask, open_items.tasks(record)),
        "questions": each(PlacedText, open_items.questions(record)),
        "rules": list(_rules(state, record)),
        "decisions": each(PlacedText, record.decisions[-MOST_DECISIONS:]),
        "files": _files(record),
        "agents": each(SubagentReport, list(record.agents.values())[-MOST_AGENTS:]),
    }


def _diff_of(path: str, state: State, folder: str) -> dict[str, Any] | None:
    """Only files that the record names are asked for."""
    file = _record(state, folder).files.get(path)
    if file is None or not file.is_changed:
        return None
    forms = (
        ("the last commit", ("diff", "HEAD")),
        ("its last commit", ("log", "-1", "-p", "--format=%h %s")),
    )
    for since, words in forms:
        whole = (*words, *DIFF_SAFE, "--", path)
        text = run_git(state.cwd or state.project, *whole, seconds=DIFF_SECONDS)
        if text:
            return {"since": since, "diff": redact(text[:DIFF_BYTES].decode("utf-8", "replace"))}
    return {"since": None, "diff": ""}


def _rules(state: State, record: Record) -> Iterable[dict[str, Any]]:
    """Pins and marked rules, which every brief repeats, then all that the user typed, newest first:
    nothing decides which of that are rules."""
    nowhere = {"answers": "", **place_of(record, Place())}
    for pin in ledger.read(state.project, state.session_id).pins:
        yield {"text": pin.text, "reason": f"{pin.author}, for the {pin.scope}", **nowhere}
    for text in collect_marked_rules(state.project, window_brief.read_files(record)):
        yield {"text": text, "reason": MARKED, **nowhere}
    for turn in reversed(record.turns):
        if turn.asked:
            answers = answered(turn.asked, turn.reply_to)
            about = {"reason": TYPED, "answers": answers, **place_of(record, turn.place)}
            yield {"text": turn.asked, **about}


def _files(record: Record) -> list[dict[str, Any]]:
    """The last used first."""
    used = sorted(record.files.items(), key=lambda pair: -pair[1].op)
    return [
        UsedFile.of(one, path=path, edits=one.edits + one.written, step=one.op)
        for path, one in used
        if one.reads or one.is_changed
    ][:MOST_FILES]

"""`/api/checkpoints`: the files that this machine has, their lineage, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Database, Db
from holdfast.api.fields import Body, IdQuery, Limit, Offset, Word, WordQuery
from holdfast.api.responses import CONFLICT, NOT_FOUND, ApiAnswer, Paged, Router, respond
from holdfast.api.routes.machine.files import local_window, read_files
from holdfast.checkpoint import (
    checkpoint_file,
    find,
    index,
    lineage,
    provenance,
    snapshot,
    verify,
)
from holdfast.checkpoint.document import Document
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import CheckpointNotSaved, DamagedCheckpoint
from holdfast.checkpoint.snapshot import CheckpointFill
from holdfast.events import take_checkpoint
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.errors import AlreadyThere, NotThere, Refused
from holdfast.hub.tree import readings
from holdfast.text import timestamps

router = Router(prefix="/api/checkpoints", tags=["checkpoints"])
ID = r"^[0-9A-Za-z-]{1,60}$"  # never a path: a file is only opened where the index names it
CheckpointPath = Annotated[str, Path(pattern=ID)]
CheckpointQuery = Annotated[str | None, Query(pattern=ID)]


class CheckpointRow(ApiAnswer):
    """`is_verified`: its file is what was saved, looked at now. `is_own`: this machine made it.
    `number` counts those of its window; `used_ratio` is how full that was, where it is known."""

    id: str
    path: str
    project: str
    project_id: str
    session_id: str
    agent_id: str | None
    at: str
    trigger: str
    number: int
    summary: str
    parent: str | None
    is_verified: bool
    is_own: bool
    content_hash: str
    used_ratio: float | None


class CheckpointList(Paged):
    checkpoints: list[CheckpointRow]


class CheckpointSection(ApiAnswer):
    heading: str
    items: list[str]


class CheckpointFault(ApiAnswer):
    part: str
    words: str


class CheckpointDetail(CheckpointRow):
    """`lineage`: this one, its parent, and so on. `text`: the whole file, empty where it cannot be
    read; `findings` say what is wrong with it."""

    sections: list[CheckpointSection]
    text: str
    lineage: list[str]
    ok: bool
    findings: list[CheckpointFault]
    notes: list[str]
    resume: str


class SectionDiff(ApiAnswer):
    heading: str
    added: list[str]
    removed: list[str]
    unchanged: list[str]


class CheckpointDiff(ApiAnswer):
    """`older` is null where `newer` is the first of its line: everything is added."""

    older: CheckpointRow | None
    newer: CheckpointRow
    sections: list[SectionDiff]


class CheckpointVerified(ApiAnswer):
    id: str
    path: str
    ok: bool
    findings: list[CheckpointFault]
    notes: list[str]


class CheckpointSaved(ApiAnswer):
    id: str
    path: str
    content_hash: str
    is_reused: bool
    notes: list[str]


class NewCheckpoint(Body):
    session_id: Word
    agent_id: Word | None = None


@router.get("", response_model=CheckpointList)
async def listed(
    db: Db,
    project_id: IdQuery = None,
    session_id: WordQuery = None,
    agent: WordQuery = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Newest first, each looked at again."""

    def look() -> tuple[list[CheckpointEntry], int]:
        wanted = [
            one
            for one in index.load_or_empty()
            if (project_id is None or _project_id(one) == project_id)
            and session_id in (None, one.session_id)
            and agent in (None, one.agent_id)
        ]
        some = find.sort_entries(wanted)[offset : offset + limit]
        return [verify.verify_entry(one, wanted) for one in some], len(wanted)

    found, total = await read_files(look)
    rows = await _rows(db, found)
    figures = {"count": len(rows), "total": total, "limit": limit, "offset": offset}
    return respond({"checkpoints": rows, **figures})


@router.get("/diff", response_model=CheckpointDiff, responses=NOT_FOUND)
async def diff(
    db: Db,
    newer: Annotated[str, Query(pattern=ID)],
    older: CheckpointQuery = None,
    project_id: IdQuery = None,
) -> Response:
    """What changed between two, by section; without `older`, since the parent of `newer`."""

    def look() -> tuple[list[CheckpointEntry], list[dict[str, Any]]]:
        entries = index.load_or_empty()
        after = _find_entry(newer, project_id, entries)
        if older is not None:
            ends = [_find_entry(older, project_id, entries), after]
        else:
            ends = lineage.trace(after, entries)[:2][::-1]
        documents = [_document(end) for end in ends]
        return ends, _sections(documents)

    ends, sections = await read_files(look)
    rows = await _rows(db, ends)
    return respond(
        {"older": rows[0] if len(rows) > 1 else None, "newer": rows[-1], "sections": sections}
    )


@router.get("/{checkpoint_id}", response_model=CheckpointDetail, responses=NOT_FOUND)
async def get(checkpoint_id: CheckpointPath, db: Db, project_id: IdQuery = None) -> Response:
    """One checkpoint, whole."""

    def look() -> tuple[CheckpointEntry, dict[str, Any]]:
        entries = index.load_or_empty()
        entry = _find_entry(checkpoint_id, project_id, entries)
        report = verify.verify(entry.path, entries)
        line = [one.id for one in lineage.trace(entry, entries)]
        held = report.document.sections if report.document else {}
        content = {
            "sections": [{"heading": name, "items": list(held[name])} for name in held],
            "text": _text(entry),
            "lineage": line,
            "resume": f"holdfast resume {entry.id} --load",
        }
        return entry, {**content, **_verdict(report)}

    entry, content = await read_files(look)
    [row] = await _rows(db, [entry])
    return respond({**row, **content, "is_verified": content["ok"]})


@router.post(
    "", status_code=201, response_model=CheckpointSaved, responses={**NOT_FOUND, **CONFLICT}
)
async def post(body: NewCheckpoint) -> Response:
    """Save one now, of a window with a transcript on this machine. A conflict: no place took it."""
    _, folder = await local_window(body.session_id, body.agent_id or "")
    try:
        kept = await read_files(take_checkpoint.save_now, folder, row_times.now_ms())
    except CheckpointNotSaved as error:
        raise AlreadyThere(str(error), body.session_id) from error
    notes = [*([f"not in the project: {kept.why_elsewhere}"] if kept.why_elsewhere else [])]
    made = {"id": kept.id, "path": replace_unstorable(kept.path), "content_hash": kept.content_hash}
    return respond({**made, "is_reused": kept.reused, "notes": [*notes, *kept.notes]}, 201)


@router.post("/{checkpoint_id}/verify", response_model=CheckpointVerified, responses=NOT_FOUND)
async def verified(checkpoint_id: CheckpointPath, project_id: IdQuery = None) -> Response:
    """Is its file what was saved? Nothing is changed."""

    def look() -> dict[str, Any]:
        entries = index.load_or_empty()
        entry = _find_entry(checkpoint_id, project_id, entries)
        report = verify.verify(entry.path, entries)
        return {"id": entry.id, "path": replace_unstorable(entry.path), **_verdict(report)}

    return respond(await read_files(look))


def _verdict(report: verify.VerifyReport) -> dict[str, Any]:
    found = [{"part": finding.part, "words": finding.words} for finding in report.findings]
    return {"ok": report.ok, "findings": found, "notes": list(report.notes)}


def _find_entry(
    checkpoint_id: str, project_id: str | None, entries: Iterable[CheckpointEntry]
) -> CheckpointEntry:
    fits = [
        entry
        for entry in entries
        if entry.id == checkpoint_id and (project_id is None or _project_id(entry) == project_id)
    ]
    if not fits:
        raise NotThere("Checkpoint")
    if len(fits) > 1:
        raise Refused(f"{len(fits)} projects have a checkpoint {checkpoint_id}", "project_id")
    return fits[0]


def _project_id(entry: CheckpointEntry) -> str:
    """As the rows of its sessions have it, where the name of its folder is not UTF-8 too."""
    return ids.project_id(replace_unstorable(entry.project))


def _document(entry: CheckpointEntry) -> Document:
    try:
        return checkpoint_file.read(entry.path).document
    except DamagedCheckpoint as error:
        raise NotThere("Checkpoint that can be read", str(error)) from error


def _text(entry: CheckpointEntry) -> str:
    try:
        return checkpoint_file.load(entry.path).decode("utf-8", "replace")
    except DamagedCheckpoint:
        return ""


def _sections(documents: Sequence[Document]) -> list[dict[str, Any]]:
    *before, after = documents
    older = before[0] if before else None
    changes = {one.heading: one for one in lineage.compare(older, after)} if older else {}
    names = dict.fromkeys([*after.sections, *(older.sections if older else ())])
    sections = []
    for name in names:
        items = list(after.sections.get(name, ()))
        change = changes.get(name)
        added = change.added if change else [] if older else items
        sections.append(
            {
                "heading": name,
                "added": added,
                "removed": change.removed if change else [],
                "unchanged": lineage.items_beyond(items, added),
            }
        )
    return sections


async def _rows(db: Database, entries: Sequence[CheckpointEntry]) -> list[dict[str, Any]]:
    own = {entry.path for entry in provenance.own_entries(entries)}
    fills = await read_files(
        lambda: [snapshot.load_fill(entry.project, entry.id) for entry in entries]
    )
    shares = await db.read(lambda connection: [*map(partial(_share, connection), entries, fills)])
    return [
        {
            "id": one.id,
            "path": replace_unstorable(one.path),
            "project": replace_unstorable(one.project),
            "project_id": _project_id(one),
            "session_id": one.session_id,
            "agent_id": one.agent_id or None,
            "at": one.created,
            "trigger": one.trigger,
            "number": one.iteration,
            "summary": one.summary,
            "parent": one.parent or None,
            "is_verified": one.verified,
            "is_own": one.path in own,
            "content_hash": one.content_hash,
            "used_ratio": share,
        }
        for one, share in zip(entries, shares, strict=True)
    ]


def _share(connection: Connection, entry: CheckpointEntry, fill: CheckpointFill) -> float | None:
    """How full its window was: as the checkpoint states, else at the last step before it."""
    if fill.used_tokens > 0 and fill.limit_tokens > 0:
        return round(fill.used_tokens / fill.limit_tokens, 4)
    at_ms = int(timestamps.from_iso(entry.created).timestamp() * 1000) + 999
    last = readings.at_time(connection, entry.session_id, entry.agent_id, at_ms)
    return round(last.used_tokens / last.limit_tokens, 4) if last and last.limit_tokens else None

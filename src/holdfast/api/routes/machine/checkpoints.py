"""`/api/checkpoints`: the files that this machine has, their lineage, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import Path, Query, Response

from holdfast.api.fields import Body, IdQuery, Limit, Offset, Word, WordQuery
from holdfast.api.responses import CONFLICT, Paged, Router, answer, paging, respond
from holdfast.api.routes.machine.files import local_window, read_files
from holdfast.checkpoint import checkpoint_file, find, index, snapshot, verify
from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved, DamagedCheckpoint, Document
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.errors import AlreadyThere, NotThere, Refused
from holdfast.hub.store.rows import Page
from holdfast.session import take_checkpoint

router = Router(prefix="/api/checkpoints", tags=["checkpoints"])
ID = r"^[0-9A-Za-z-]{1,60}$"  # never a path: a file is only opened where the index names it
CheckpointPath = Annotated[str, Path(pattern=ID)]
CheckpointQuery = Annotated[str | None, Query(pattern=ID)]


CheckpointRow = answer(
    "CheckpointRow",
    "id:str path:str project:str project_id:str session_id:str agent_id:str created:str "
    "trigger:str iteration:int summary:str parent:str verified:bool used_ratio:float?",
    doc="`verified`: its file is what was saved, looked at now. `iteration` counts those of its "
    "window; `used_ratio` is how full that was, as the checkpoint states.",
)


CheckpointList = answer("CheckpointList", "checkpoints:CheckpointRow[]", Paged)


CheckpointFault = answer("CheckpointFault", "part:str words:str")


CheckpointDetail = answer(
    "CheckpointDetail",
    "text:str findings:CheckpointFault[]",
    CheckpointRow,
    doc="`text`: the whole file, empty where it cannot be read; `findings` say what is wrong.",
)


SectionDiff = answer("SectionDiff", "heading:str added:str[] removed:str[] unchanged:str[]")


CheckpointDiff = answer(
    "CheckpointDiff",
    "older:CheckpointRow? newer:CheckpointRow sections:SectionDiff[]",
    doc="`older` is null where `newer` is the first of its line: everything is added.",
)


CheckpointSaved = answer("CheckpointSaved", "id:str path:str reused:bool notes:str[]")


class NewCheckpoint(Body):
    session_id: Word
    agent_id: Word | None = None


@router.get("", response_model=CheckpointList)
async def listed(
    project_id: IdQuery = None,
    session_id: WordQuery = None,
    agent: WordQuery = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Newest first, each looked at again."""

    def look() -> dict[str, Any]:
        wanted = [
            entry
            for entry in index.load_or_empty()
            if project_id in (None, _project_id(entry))
            and session_id in (None, entry.session_id)
            and agent in (None, entry.agent_id)
        ]
        some = find.sort_entries(wanted)[offset : offset + limit]
        rows = [_row(verify.verify_entry(entry, wanted)) for entry in some]
        return {"checkpoints": rows, **paging(Page(rows, len(wanted), limit, offset))}

    return respond(await read_files(look))


@router.get("/diff", response_model=CheckpointDiff)
async def diff(
    newer: Annotated[str, Query(pattern=ID)],
    older: CheckpointQuery = None,
    project_id: IdQuery = None,
) -> Response:
    """What changed between two, by section; without `older`, since the parent of `newer`."""

    def look() -> dict[str, Any]:
        entries = index.load_or_empty()
        after = _find_entry(newer, project_id, entries)
        if older is not None:
            ends = [_find_entry(older, project_id, entries), after]
        else:
            ends = find.trace(after, entries)[:2][::-1]
        sections = _sections([_document(end) for end in ends])
        before = _row(ends[0]) if len(ends) > 1 else None
        return {"older": before, "newer": _row(after), "sections": sections}

    return respond(await read_files(look))


@router.get("/{checkpoint_id}", response_model=CheckpointDetail)
async def get(checkpoint_id: CheckpointPath, project_id: IdQuery = None) -> Response:
    """One checkpoint, whole, and whether its file is what was saved."""

    def look() -> dict[str, Any]:
        entries = index.load_or_empty()
        entry = _find_entry(checkpoint_id, project_id, entries)
        report = verify.verify(entry.path, entries)
        findings = [CheckpointFault.of(finding) for finding in report.findings]
        more = {"verified": report.ok, "text": _text(entry), "findings": findings}
        return {**_row(entry), **more}

    return respond(await read_files(look))


@router.post("", status_code=201, response_model=CheckpointSaved, responses=CONFLICT)
async def post(body: NewCheckpoint) -> Response:
    """Save one now, of a window with a transcript on this machine. A conflict: no place took it."""
    _, folder = await local_window(body.session_id, body.agent_id or "")
    try:
        kept = await read_files(take_checkpoint.save_now, folder, row_times.now_ms())
    except CheckpointNotSaved as error:
        raise AlreadyThere(str(error), body.session_id) from error
    notes = [*([f"not in the project: {kept.why_elsewhere}"] if kept.why_elsewhere else [])]
    path = replace_unstorable(kept.path)
    return respond(CheckpointSaved.of(kept, path=path, notes=[*notes, *kept.notes]), 201)


def _find_entry(
    checkpoint_id: str, project_id: str | None, entries: Iterable[CheckpointEntry]
) -> CheckpointEntry:
    fits = [
        entry
        for entry in entries
        if entry.id == checkpoint_id and project_id in (None, _project_id(entry))
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
    """Compare the last document with the one before it, which may be missing."""
    older = documents[0].sections if len(documents) > 1 else {}
    newer = documents[-1].sections
    sections = []
    for heading in dict.fromkeys([*newer, *older]):
        before, after = older.get(heading, ()), newer.get(heading, ())
        added = find.items_beyond(after, before)
        removed = find.items_beyond(before, after)
        same = find.items_beyond(after, added)
        section = {"heading": heading, "added": added, "removed": removed, "unchanged": same}
        sections.append(section)
    return sections


def _row(entry: CheckpointEntry) -> Any:
    fill = snapshot.load_fill(entry.project, entry.id)
    is_known = fill.used_tokens > 0 and fill.limit_tokens > 0
    return CheckpointRow.of(
        entry,
        path=replace_unstorable(entry.path),
        project=replace_unstorable(entry.project),
        project_id=_project_id(entry),
        used_ratio=round(fill.used_tokens / fill.limit_tokens, 4) if is_known else None,
    )

"""`checkpoint` saves one now; `resume` returns the project's checkpoints, one, or the brief."""

import time

from holdfast.archive import transcripts
from holdfast.archive.transcripts import NoArchivedTranscript
from holdfast.brief import checkpoint_brief
from holdfast.brief.compose import NOTICE
from holdfast.checkpoint import additions, find, index
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.find import NoCheckpoint
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.client.memory_folder import slug
from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.tool_table import CheckpointArguments, ResumeArguments
from holdfast.record import storage
from holdfast.session import take_checkpoint, window_brief
from holdfast.text import fence
from holdfast.text.numbers import counted

NOW = "now"
MAX_LISTED, MAX_ARCHIVED = 200, 10


def answer_checkpoint(asked: CheckpointArguments) -> ToolAnswer:
    given = {kind: [getattr(asked, kind)] for kind in additions.SECTIONS}
    kept = take_checkpoint.save_now(client_session.window()[0], int(time.time() * 1000), given)
    fields = {
        "id": kept.id,
        "path": kept.path,
        "verified": kept.document.is_complete,  # it was read back in any case
        "reused": kept.reused,
        "why_elsewhere": kept.why_elsewhere or None,
    }
    how = "verified" if kept.document.is_complete else "NOT VERIFIED: the transcript was not read"
    told = ["the same state was already saved" if kept.reused else how, *kept.notes]
    return ToolAnswer(f"checkpoint {kept.id}: {'; '.join(told)}", fields)


def answer_resume(asked: ResumeArguments) -> ToolAnswer:
    if asked.which == NOW:
        return _brief()
    known = index.load_or_empty()
    if asked.which:
        try:
            meant = find.find_by_name(asked.which, client_session.project())
        except NoCheckpoint:
            return _archived_brief(asked.which)
        entry = checks.verify_entry(meant, known)
        fields = {"id": entry.id, "path": entry.path, "created": entry.created}
        text, origin = checkpoint_brief.sections(entry), checkpoint_brief.origin(entry)
        return ToolAnswer(f"checkpoint {entry.id}", fields, text=text, origin=origin)
    found = find.sort_entries(index.of_project(client_session.project(), foreign=True))[:MAX_LISTED]
    rows = [_checkpoint_row(checks.verify_entry(entry, known)) for entry in found]
    sessions = transcripts.sessions(slug(client_session.project()))
    archived = [  # Claude Code has deleted these; `which` accepts their ids
        {"id": session.id, "asked": fence.clean(session.about.asked if session.about else "")}
        for session in sessions
        if transcripts.is_gone(session)
    ]
    more = {"archived_sessions": archived[:MAX_ARCHIVED] or None}
    return ToolAnswer(counted(len(rows), "checkpoint"), more, under="checkpoints", rows=rows)


def _archived_brief(which: str) -> ToolAnswer:
    """The brief of an archived session; NoCheckpoint if there is no such session either."""
    try:
        session = transcripts.find_session(which)
    except NoArchivedTranscript:
        raise NoCheckpoint(f"there is no checkpoint {which}") from None
    has_it = not transcripts.is_gone(session)
    return ToolAnswer(
        f"the brief of archived session {session.id}",
        {"id": session.id, "path": session.path, "client_has_it": has_it},
        text=fence.inside(window_brief.brief_of(session).text),
        origin=f"session {session.id}, archived",
    )


def _brief() -> ToolAnswer:
    folder, state = client_session.window()
    found = window_brief.compose_brief(state, folder, storage.read_on(state, folder))
    return ToolAnswer(
        "the brief as it would be now",
        {"role": found.role},
        text=f"{NOTICE}\n{fence.inside(found.text)}",
        origin=f"session {state.session_id}, now",
    )


def _checkpoint_row(entry: CheckpointEntry) -> dict[str, object]:
    names = ("id", "created", "trigger", "verified", "summary", "session_id")
    return {name: getattr(entry, name) for name in names} | {"made_here": index.is_own(entry)}

"""`resume`: the checkpoints of this project, one of them, or the brief as it would be now."""

from __future__ import annotations

from holdfast.archive import transcripts
from holdfast.archive.errors import NoTranscript
from holdfast.brief import checkpoint_brief
from holdfast.checkpoint import find, index, provenance
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.entry import Entry
from holdfast.checkpoint.errors import NoCheckpoint
from holdfast.client.memory_folder import slug
from holdfast.events import archived_brief, take_checkpoint, window_brief
from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Resume
from holdfast.text import fence

NOW = "now"
MOST, MOST_ARCHIVED = 200, 10


def answer(asked: Resume) -> Answer:
    if asked.which == NOW:
        return _brief()
    known = index.known()
    if asked.which:
        try:
            meant = find.named(asked.which, client_session.project())
        except NoCheckpoint:
            return _archived(asked.which)
        entry, _ = checks.looked_at(meant, known)
        return Answer(
            f"checkpoint {entry.id}",
            {"id": entry.id, "path": entry.path, "created": entry.created},
            text=checkpoint_brief.sections(entry),
            origin=checkpoint_brief.origin(entry),
        )
    found = find.ordered(index.of_project(client_session.project(), foreign=True))[:MOST]
    rows = [_row(checks.looked_at(entry, known)[0]) for entry in found]
    fields = {"archived_sessions": _archived_sessions() or None}
    return Answer(f"{len(rows)} checkpoints", fields, under="checkpoints", rows=rows)


def _archived_sessions() -> list[dict[str, object]]:
    """Of this project, the newest that the client has deleted; `which` takes their ids, too."""
    found = transcripts.sessions(slug(client_session.project()))
    gone = [one for one in found if transcripts.is_gone(one)][:MOST_ARCHIVED]
    told = [(one.id, one.about.asked if one.about else "") for one in gone]
    return [{"id": session, "asked": fence.clean(asked)} for session, asked in told]


def _archived(which: str) -> Answer:
    """The brief of a session that is archived; NoCheckpoint where neither is meant."""
    try:
        session = transcripts.named(which)
    except NoTranscript:
        raise NoCheckpoint(f"there is no checkpoint {which}") from None
    found = archived_brief.brief_of(session)
    return Answer(
        f"the brief of archived session {session.id}",
        {"id": session.id, "path": session.path, "client_has_it": not transcripts.is_gone(session)},
        text=fence.inside(found.text),
        origin=f"session {session.id}, archived",
    )


def _brief() -> Answer:
    folder, state = client_session.window()
    found = window_brief.composed(state, folder, take_checkpoint.facts_of(state, folder))
    return Answer(
        "the brief as it would be now",
        {"role": found.role},
        text=fence.inside(found.text),
        origin=f"session {state.session_id}, now",
    )


def _row(entry: Entry) -> dict[str, object]:
    said = ("id", "created", "trigger", "verified", "summary", "session_id")
    return {**{name: getattr(entry, name) for name in said}, "made_here": provenance.is_own(entry)}

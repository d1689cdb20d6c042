"""A session that only the archive has: the client cannot resume it, a brief of it can start a new
one."""

from __future__ import annotations

from holdfast.archive.errors import DamagedTranscript
from holdfast.archive.transcripts import ArchivedSession, CopyHeader, damage, is_empty
from holdfast.brief.compose import Brief
from holdfast.events import window_brief
from holdfast.record import read_record
from holdfast.record.secrets import redacted
from holdfast.window.state import State


def brief_of(session: ArchivedSession) -> Brief:
    """What a compaction at its end would have given back."""
    about = session.about
    if about is None or is_empty(session.path):
        raise DamagedTranscript(f"the archived {session.path}: {damage(session.path)}")
    record = redacted(read_record(session.path))
    return window_brief.composed(state_of(session.path, about), "", record)


def state_of(path: str, about: CopyHeader) -> State:
    """The window as its archived transcript tells it."""
    return State(
        transcript=path,
        session_id=about.session_id,
        agent_id=about.agent_id,
        project=about.project,
        cwd=about.project,
    )

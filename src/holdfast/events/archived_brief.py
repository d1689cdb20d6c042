"""A brief of a session that only the archive has, to start a new session from."""

from __future__ import annotations

from holdfast.archive.errors import DamagedTranscript
from holdfast.archive.transcripts import ArchivedSession, CopyHeader, damage, is_empty
from holdfast.brief.compose import Brief
from holdfast.events import window_brief
from holdfast.record import read_record
from holdfast.record.secrets import redacted
from holdfast.window.state import State


def brief_of(session: ArchivedSession) -> Brief:
    """The brief that a compaction at the end of the session would have given back."""
    about = session.about
    if about is None or is_empty(session.path):
        raise DamagedTranscript(f"the archived {session.path}: {damage(session.path)}")
    record = redacted(read_record(session.path))
    return window_brief.compose_brief(state_of(session.path, about), "", record)


def state_of(path: str, about: CopyHeader) -> State:
    """The state of its window, from the archived transcript."""
    return State(
        transcript=path,
        session_id=about.session_id,
        agent_id=about.agent_id,
        project=about.project,
        cwd=about.project,
    )

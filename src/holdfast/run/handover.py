"""From one session to the next: a verified checkpoint of what it did, and a brief of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.checkpoint.errors import CheckpointNotSaved
from holdfast.checkpoint.verify import verify
from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.client.settings_files import transcripts_folder
from holdfast.events import take_checkpoint, window_brief
from holdfast.record import storage
from holdfast.settings import load as settings_load
from holdfast.window import state as window_state
from holdfast.window import view
from holdfast.window.state import State
from holdfast.window.windows import met
from holdfast.wire import log, places

TRIGGER = "batch"
SECTION = "Plan"


def find_transcript(session_id: str) -> Path | None:
    """The path that its hooks recorded, or Claude Code's usual place; None if there is none."""
    noted = window_state.load(places.window(session_id)).transcript
    if noted and Path(noted).is_file():
        return Path(noted)
    found = transcripts_folder().glob(f"*/{places.plain(session_id)}.jsonl")
    return next((path for path in found if path.is_file()), None)


def save_checkpoint(
    session_id: str, root: Path, lines: Sequence[str], now_ms: int
) -> SavedCheckpoint | None:
    """Save a checkpoint that also says where the plan stands, and read it back.

    None if there is no transcript; CheckpointNotSaved if there is one and nothing could be saved.
    """
    path = find_transcript(session_id)
    if path is None:
        return None
    known, folder = met(path, session_id, "")
    with window_state.held_if_can_be(folder) as state:
        _fill(state, known, root)
        view.measure(state, settings_load.load(state.project), now_ms, folder)
        kept = take_checkpoint.take(state, folder, TRIGGER, now_ms, also={SECTION: list(lines)})
    if kept is None:
        raise CheckpointNotSaved(
            "no checkpoint of the batch could be saved; `holdfast log` shows why"
        )
    report = verify(kept.path)
    if not report.ok:
        raise CheckpointNotSaved(f"{kept.path}: {report.findings[0].words}")
    return kept


def close_window(session_id: str) -> None:
    """Mark the session as ended, in case none of its hooks did."""
    places.close_window(places.window(session_id))


def compose_brief(session_id: str, tokens: int) -> str:
    """A fenced brief of what that session knew; empty if its transcript cannot be read."""
    path = find_transcript(session_id)
    if path is None:
        return ""
    state, folder = met(path, session_id, "")
    try:
        facts = storage.read_on(state, folder)
        found = window_brief.compose_brief(state, folder, facts, tokens)
    except Exception as slip:  # a transcript may hold anything: the batch then starts without it
        log.add("ERROR", session_id[:8], f"no brief for the next batch: {slip!r}")
        return ""
    return found.text if found.lines else ""


def _fill(state: State, known: State, root: Path) -> None:
    """Fill in what hooks would have recorded, for a session without our hooks."""
    state.session_id = state.session_id or known.session_id
    state.transcript = known.transcript
    state.cwd = state.cwd or known.cwd
    state.project = state.project or known.project or str(root)

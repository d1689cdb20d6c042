"""From one session to the next: a verified checkpoint of what it did, and the brief of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.checkpoint.errors import CheckpointNotSaved
from holdfast.checkpoint.verify import verify
from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.client.settings_files import transcripts_folder
from holdfast.events import take_checkpoint, window_brief
from holdfast.settings import load as settings_load
from holdfast.window import state as window_state
from holdfast.window import view
from holdfast.window.state import State
from holdfast.window.windows import met
from holdfast.wire import log, places

TRIGGER = "batch"
SECTION = "Plan"


def transcript_of(session_id: str) -> Path | None:
    """As its hooks noted it, else where the client keeps them; None: there is none."""
    noted = window_state.load(places.window(session_id)).transcript
    if noted and Path(noted).is_file():
        return Path(noted)
    found = transcripts_folder().glob(f"*/{places.plain(session_id)}.jsonl")
    return next((path for path in found if path.is_file()), None)


def checkpoint(
    session_id: str, root: Path, lines: Sequence[str], now_ms: int
) -> SavedCheckpoint | None:
    """Kept and read back, with where the plan stands in it; None where there is no transcript.

    NotKept where there is one and no place took the checkpoint.
    """
    path = transcript_of(session_id)
    if path is None:
        return None
    known, folder = met(path, session_id, "")
    with window_state.held_if_can_be(folder) as state:
        _fill(state, known, root)
        view.measure(state, settings_load.load(state.project), now_ms, folder)
        kept = take_checkpoint.take(state, folder, TRIGGER, now_ms, also={SECTION: list(lines)})
    if kept is None:
        raise CheckpointNotSaved(
            "no checkpoint of the batch could be kept; `holdfast log` says why"
        )
    report = verify(kept.path)
    if not report.ok:
        raise CheckpointNotSaved(f"{kept.path}: {report.findings[0].words}")
    return kept


def close(session_id: str) -> None:
    """It has ended: where no hook of it said so, nobody is to take it for live."""
    places.close_window(places.window(session_id))


def brief(session_id: str, tokens: int) -> str:
    """What that session knew, fenced; empty where nothing can be read of it."""
    path = transcript_of(session_id)
    if path is None:
        return ""
    state, folder = met(path, session_id, "")
    try:
        facts = take_checkpoint.facts_of(state, folder)
        found = window_brief.composed(state, folder, facts, tokens)
    except Exception as slip:  # a transcript is anyone's words: the batch starts without them
        log.add("ERROR", session_id[:8], f"no brief for the next batch: {slip!r}")
        return ""
    return found.text if found.lines else ""


def _fill(state: State, known: State, root: Path) -> None:
    """A session whose client has no hooks of ours is known by its transcript alone."""
    state.session_id = state.session_id or known.session_id
    state.transcript = known.transcript
    state.cwd = state.cwd or known.cwd
    state.project = state.project or known.project or str(root)

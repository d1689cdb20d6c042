"""At the end of a session: record it, and remove windows that were not used for a month."""

from __future__ import annotations

import shutil
from pathlib import Path

from holdfast.events import archive_transcripts, breadcrumb, record_session, take_checkpoint
from holdfast.hook.observation import Moment
from holdfast.redact import redact
from holdfast.settings import load as settings_load
from holdfast.window import view
from holdfast.window.state import lock_state_if_possible
from holdfast.wire import log, places, scan

DRAFT_MS = 3_600_000
KEPT_MS = 30 * 24 * 3_600_000
MOST_AT_ONCE = 20  # the client gives this event little time


def tell(moment: Moment) -> str:
    with lock_state_if_possible(moment.folder) as state:
        record_session.record(state, moment)
        settings = settings_load.load(state.project)
        view.remember(state, view.of_moment(moment, state, settings))
        state.ended_ms = moment.now_ms
        worked = moment.tail.basis != "none"  # a session without one answer has nothing to keep
        kept = (
            take_checkpoint.take(
                state, moment.folder, "session-end", moment.now_ms, is_late=moment.is_late
            )
            if worked
            else None
        )
    reason = scan.text_of(moment.payload, "reason") or "unknown"
    saved = f", checkpoint {kept.id}" if kept else ""
    log.add("INFO", record_session.log_name(state), f"session ended ({reason}){saved}")
    if kept:
        breadcrumb.add_line(state, redact(kept.document.summary), settings, moment.now_ms)
    take_checkpoint.tidy(state, moment.now_ms)
    _sweep(Path(moment.folder), moment.now_ms)
    _clear_away(moment.now_ms)
    archive_transcripts.at_end(settings)
    return ""


def _clear_away(now_ms: int) -> None:
    """Remove old windows. They are an index of transcripts, so nothing is lost."""
    if places.linked_folder(places.windows()):
        return  # what is there may be anybody's
    folders = list(Path(places.windows()).glob("*"))
    old = [folder for folder in folders if now_ms - _newest_ms(folder) > KEPT_MS]
    for folder in old[:MOST_AT_ONCE]:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(folder: Path, now_ms: int) -> None:
    """Remove drafts of hooks that were killed while they wrote."""
    if places.linked_folder(str(folder)):
        return
    for draft in folder.glob("*.draft"):
        if now_ms - draft.stat().st_mtime * 1000 > DRAFT_MS:
            draft.unlink(missing_ok=True)


def _newest_ms(folder: Path) -> int:
    times = [path.stat().st_mtime for path in [folder, *folder.glob("*/*")] if path.exists()]
    return int(max(times, default=0.0) * 1000)

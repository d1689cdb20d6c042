"""At the end of a session: record it, save a last checkpoint, add a line to the day's note if a
folder of notes is configured, and remove windows that were not used for a month."""

import shutil
import time
from pathlib import Path

from holdfast.events import background, dispatch
from holdfast.files import atomic
from holdfast.hook.observation import Moment
from holdfast.redact.find import redact
from holdfast.session import take_checkpoint
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.window import measurement
from holdfast.window.state import State, lock_state_if_possible
from holdfast.wire import log, places, scan
from holdfast.wire.log import inert

KEPT_MS = 30 * 24 * 3_600_000
MOST_AT_ONCE = 20  # the client gives this event little time
MOST_NOTE_BYTES = 4 << 20


def tell(moment: Moment) -> str:
    with lock_state_if_possible(moment.folder) as state:
        dispatch.record_session(state, moment)
        settings = settings_load.load(state.project)
        measurement.remember(state, measurement.of_moment(moment, state, settings))
        state.ended_ms = moment.now_ms
        kept = None
        if moment.tail.basis != "none":  # a session without one answer has nothing to keep
            kept = take_checkpoint.take(
                state, moment.folder, "session-end", moment.now_ms, is_late=moment.is_late
            )
    reason = scan.text_of(moment.payload, "reason") or "unknown"
    saved = f", checkpoint {kept.id}" if kept else ""
    log.add("INFO", dispatch.log_name(state), f"session ended ({reason}){saved}")
    if kept:
        _add_to_note(state, redact(kept.document.summary), settings, moment.now_ms)
    take_checkpoint.tidy(state, moment.now_ms)
    _clear_away(moment.now_ms)
    background.start_copying(settings)
    return ""


def _clear_away(now_ms: int) -> None:
    """Remove old windows (an index of transcripts) and the drafts of hooks that were killed."""
    if places.linked_folder(places.windows()):
        return  # what is there may be anybody's
    old = []
    for folder in Path(places.windows()).glob("*"):
        files = list(folder.glob("*/*"))
        times = [path.stat().st_mtime for path in [folder, *files] if path.exists()]
        if now_ms - max(times, default=0.0) * 1000 > KEPT_MS:
            old.append(folder)
        for path in files:
            if atomic.is_left_draft(path.name) and not places.linked_folder(str(path.parent)):
                path.unlink(missing_ok=True)
    for folder in old[:MOST_AT_ONCE]:
        shutil.rmtree(folder, ignore_errors=True)


def check_note(settings: Settings, now_ms: int) -> str:
    """Why no line can be added to the day's note, with the settings; empty if all is well."""
    folder, note = Path(settings.word("notes_folder")).expanduser(), _note(settings, now_ms)
    if not settings.word("notes_folder"):
        return ""
    if not folder.is_dir():
        trouble = f"{folder} is no folder"
    elif note.suffix != ".md" or note.parent.resolve() != folder.resolve():
        trouble = f"{note.name} is no note of that folder"
    elif note.is_symlink() or (note.exists() and not note.is_file()):
        trouble = f"{note.name} is not a plain file"
    else:
        return ""
    return f"notes_folder, notes_name: {trouble}; no line is left in a day's note"


def _note(settings: Settings, now_ms: int) -> Path:
    name = time.strftime(settings.word("notes_name"), time.localtime(now_ms / 1000))
    return Path(settings.word("notes_folder")).expanduser() / name


def _add_to_note(state: State, summary: str, settings: Settings, now_ms: int) -> None:
    """Add one line per session and checkpoint. A problem is logged and costs only the line."""
    if not settings.word("notes_folder"):
        return
    note, place = _note(settings, now_ms), dispatch.log_name(state)
    if trouble := check_note(settings, now_ms):
        return log.add("WARN", place, trouble)
    mark = f"^holdfast-{state.session_id[:8]}-{Path(state.checkpoint_path).stem or 'end'}"
    text = places.read_small(str(note), MOST_NOTE_BYTES).decode("utf-8", "replace")
    if mark in text or "\0" in text:
        return None
    hour = time.strftime("%H:%M", time.localtime(now_ms / 1000))
    about, project = inert(" ".join(summary.split()), 160), inert(Path(state.project).name, 80)
    gap = "" if not text or text.endswith("\n") else "\n"
    try:
        with note.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{gap}- {hour} {project}: {about} {mark}\n")
    except OSError as error:
        log.add("WARN", place, f"no line in the day's note: {error}")

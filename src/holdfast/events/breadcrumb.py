"""Add a line to the daily note at the end of a session, if a folder of notes is configured.

There is one line per session and checkpoint, and only in a note: a text file with the day's name,
in that folder.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from holdfast.settings.load import Settings
from holdfast.window.state import State
from holdfast.wire import log, places
from holdfast.wire.log import inert

MOST_NOTE = 4 << 20


def check(settings: Settings, now_ms: int) -> str:
    """Why no line can be added now, with the settings to fix; empty if all is well."""
    folder = settings.word("notes_folder")
    problem = _unfit(_note(settings, now_ms), Path(folder).expanduser()) if folder else ""
    return (
        f"notes_folder, notes_name: {problem}; no line is left in a day's note" if problem else ""
    )


def _note(settings: Settings, now_ms: int) -> Path:
    name = time.strftime(settings.word("notes_name"), time.localtime(now_ms / 1000))
    return Path(settings.word("notes_folder")).expanduser() / name


def add_line(state: State, summary: str, settings: Settings, now_ms: int) -> None:
    """Add the line. A problem is logged, and the note stays as it was."""
    folder = settings.word("notes_folder")
    if not folder:
        return
    note = _note(settings, now_ms)
    mark = f"^holdfast-{state.session_id[:8]}-{Path(state.checkpoint_path).stem or 'end'}"
    trouble = _unfit(note, Path(folder).expanduser())
    if trouble:
        log.add("WARN", state.session_id[:8], f"no line in the day's note: {trouble}")
    elif mark not in _text(note):
        _append(note, _line(state, summary, now_ms, mark))


def _line(state: State, summary: str, now_ms: int, mark: str) -> str:
    hour = time.strftime("%H:%M", time.localtime(now_ms / 1000))
    about = inert(" ".join(summary.split()), 160)
    return f"- {hour} {inert(Path(state.project).name, 80)}: {about} {mark}\n"


def _unfit(note: Path, folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder} is no folder"
    if note.suffix != ".md" or note.parent.resolve() != folder.resolve():
        return f"{note.name} is no note of that folder"
    if note.is_symlink() or (note.exists() and not note.is_file()):
        return f"{note.name} is not a plain file"
    if note.exists() and (note.stat().st_size > MOST_NOTE or "\0" in _text(note)):
        return f"{note.name} is not a text"
    return ""


def _text(note: Path) -> str:
    return places.read_small(str(note), MOST_NOTE).decode("utf-8", "replace")


def _append(note: Path, line: str) -> None:
    """Append on a new line, also if the note does not end with one."""
    text = _text(note)
    gap = "" if not text or text.endswith("\n") else "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(note, flags, 0o644)
        try:
            data = (gap + line).encode("utf-8", "replace")
            if os.write(fd, data) < len(data):
                raise OSError("the disk is full")
        finally:
            os.close(fd)
    except OSError as error:
        log.add("WARN", "note", f"no line in the day's note: {error}")

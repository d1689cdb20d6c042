"""Is an archived transcript still what was written? A full disk or a bad one cuts files short."""

from __future__ import annotations

import time

from holdfast.archive import transcript_file, transcripts
from holdfast.transcript.reader import LONGEST_LINE_BYTES
from holdfast.transcript.source import Source, Unreadable


def damage(path: str) -> str:
    """In words what is wrong with a copy; empty where it is whole. All of it is read."""
    about = transcript_file.about(path)
    if about is None:
        return "it is damaged, or of another version of Holdfast"
    found, is_damaged = _whole_lines(path)
    if found == about.lines and not is_damaged:
        return ""
    return f"it is damaged: {min(found, about.lines):,} of {about.lines:,} lines can be read"


def is_empty(path: str) -> bool:
    """Not one line of it can be read."""
    return _whole_lines(path, 1)[0] == 0


def damaged_copies(seconds: float) -> list[str]:
    """Those whose source is gone first, as many as can be read in so much time; each in words."""
    give_up, found = time.monotonic() + seconds, list[str]()
    for session in sorted(transcripts.sessions(), key=transcripts.is_gone, reverse=True):
        for path in session.files:
            if time.monotonic() > give_up:
                return found
            if words := damage(path):
                found.append(f"the archived {path}: {words}")
    return found


def _whole_lines(path: str, most: int = -1) -> tuple[int, bool]:
    """How many lines can be read, `most` at most, and whether an error ended that."""
    count = 0
    try:
        with Source(path) as source:
            for data in source.lines(0, LONGEST_LINE_BYTES):
                count += data.endswith(b"\n")
                if count == most:
                    break
            return count, source.is_damaged
    except Unreadable:
        return count, True

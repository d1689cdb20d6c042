"""Copies of topics as they were before we changed or retired them, with our own files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from holdfast.memory.topics import folder
from holdfast.memory.topics.errors import NotWritten
from holdfast.wire import places

MOST_COPIES = 200


def copy(path: Path, file: str, now_ms: int) -> str:
    """The copy's path. Without one nothing is changed: there must be a way back."""
    found = folder.read(path, file)
    if found is None:
        return ""
    place = folder.beside(path) / "before"
    target = place / f"{now_ms:013}-{file}"
    try:
        folder.make(place)
        places.replace_whole(str(target), found.data)
    except OSError as slip:
        raise NotWritten(f"{place} takes no copy: {slip.strerror}") from slip
    for old in sorted(place.glob("*.md"))[:-MOST_COPIES]:
        with suppress(OSError):
            old.unlink()
    return str(target)

"""Files of a plan as the project has them: inside it, plain, and not too large to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from posixpath import exists, join, realpath  # unlike Path they take any name, too long or odd

from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20
OUTSIDE = "not in this project, and not looked at"
MISSING = "not there yet"


def inside(root: Path, file: str) -> Path | None:
    """Where it lies; None for what is not in the project, by its name or by a link."""
    top = realpath(root)
    try:
        path = realpath(join(top, file))
    except (OSError, ValueError):  # a name that cannot be
        return None
    return Path(path) if path == top or path.startswith(top.rstrip("/") + "/") else None


def sources(root: Path, files: Iterable[str]) -> dict[str, bytes]:
    """The text of each; nothing for one that cannot be read, is elsewhere, or is too large: cut
    off, it would tell half its imports."""
    found: dict[str, bytes] = {}
    left = MOST_ALL_BYTES
    for file in files:
        path = inside(root, file)
        data = places.read_small(str(path), MOST_BYTES + 1) if path else b""
        found[file] = data if len(data) <= min(MOST_BYTES, left) else b""
        left -= len(found[file])
    return found


def standing(root: Path, files: Iterable[str]) -> dict[str, str]:
    """Of each file that is not there, or not ours to look at, which of the two."""
    found: dict[str, str] = {}
    for file in dict.fromkeys(files):
        path = inside(root, file)
        if path is None:
            found[file] = OUTSIDE
        elif not exists(path):
            found[file] = MISSING
    return found

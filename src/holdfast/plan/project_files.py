"""Files of a plan as the project has them: inside it, plain, and not too large to be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20


def inside(root: Path, file: str) -> Path | None:
    """Where it lies; None for what is not in the project, by its name or by a link."""
    try:
        path = (root / file).resolve()
        return path if path.is_relative_to(root.resolve()) else None
    except (OSError, ValueError, RuntimeError):  # a name that cannot be, a circle of links
        return None


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


def missing(root: Path, files: Sequence[str]) -> list[str]:
    """Those that are not there: to be made, or misspelled."""
    return [file for file in files if not _is_there(root, file)]


def outside(root: Path, files: Sequence[str]) -> list[str]:
    return [file for file in files if inside(root, file) is None]


def _is_there(root: Path, file: str) -> bool:
    path = inside(root, file)
    try:
        return path is None or path.exists()
    except OSError:
        return False

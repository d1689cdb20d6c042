"""Files of a plan as the project has them: inside it, plain, and not too large to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from posixpath import exists, islink, join, realpath, split  # they take any name, unlike Path

from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20
OUTSIDE = "not in this project, and not looked at"
MISSING = "not there yet"


def resolve_inside(root: Path, file: str) -> Path | None:
    """Where it lies; None for what is not in the project, by its name or by a link."""
    found = resolve_below(realpath(root), file, {})
    return Path(found) if found is not None else None


def resolve_below(top: str, file: str, folders: dict[str, str]) -> str | None:
    """`folders` are those resolved before: a plan names few, and many files in each."""
    try:
        path = _resolved(join(top, file), folders)
    except (OSError, ValueError):  # a name that cannot be
        return None
    return path if path == top or path.startswith(top.rstrip("/") + "/") else None


def _resolved(path: str, folders: dict[str, str]) -> str:
    folder, name = split(path)
    if folder not in folders:
        folders[folder] = realpath(folder)
    found = join(folders[folder], name)
    return realpath(found) if name in ("", ".", "..") or islink(found) else found


def read_sources(root: Path, files: Iterable[str]) -> dict[str, bytes]:
    """The text of each; nothing for one that cannot be read, is elsewhere, or is too large: cut
    off, it would tell half its imports."""
    found: dict[str, bytes] = {}
    left = MOST_ALL_BYTES
    for file in files:
        path = resolve_inside(root, file)
        data = places.read_small(str(path), MOST_BYTES + 1) if path else b""
        found[file] = data if len(data) <= min(MOST_BYTES, left) else b""
        left -= len(found[file])
    return found


def find_existing(root: Path, files: Iterable[str]) -> dict[str, str]:
    """Of each file that is not there, or not ours to look at, which of the two."""
    found: dict[str, str] = {}
    top, folders = realpath(root), dict[str, str]()
    for file in dict.fromkeys(files):
        path = resolve_below(top, file, folders)
        if path is None:
            found[file] = OUTSIDE
        elif not exists(path):
            found[file] = MISSING
    return found

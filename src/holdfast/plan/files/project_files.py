"""The files of a plan in the project: inside of it, regular, and small enough to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from posixpath import exists, islink, join, realpath, split  # they take any name, unlike Path

from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20
OUTSIDE = "not in this project, and not looked at"
MISSING = "not there yet, so taken as files to create"


def resolve_inside(root: Path, file: str) -> Path | None:
    """The path of a file; None if its name or a link leads out of the project."""
    found = resolve_below(realpath(root), file, {})
    return Path(found) if found is not None else None


def resolve_below(top: str, file: str, folders: dict[str, str]) -> str | None:
    """The path of a file below `top`. `folders` caches resolved folders: a plan names few."""
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
    """The content of each file, without those that cannot be read, are outside, or are too large:
    a part of a file would show only some of its imports."""
    found: dict[str, bytes] = {}
    left = MOST_ALL_BYTES
    for file in files:
        path = resolve_inside(root, file)
        data = places.read_small(str(path), MOST_BYTES + 1) if path else b""
        found[file] = data if len(data) <= min(MOST_BYTES, left) else b""
        left -= len(found[file])
    return found


def find_existing(root: Path, files: Iterable[str]) -> dict[str, str]:
    """For each file that does not exist or is outside the project, which of the two it is."""
    found: dict[str, str] = {}
    top, folders = realpath(root), dict[str, str]()
    for file in dict.fromkeys(files):
        path = resolve_below(top, file, folders)
        if path is None:
            found[file] = OUTSIDE
        elif not exists(path):
            found[file] = MISSING
    return found

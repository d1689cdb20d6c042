"""The files of a plan in the project: inside of it, regular, and small enough to be read; and what
git knows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from posixpath import (  # they take any name, unlike Path
    exists,
    getsize,
    isfile,
    islink,
    join,
    realpath,
    split,
)

from holdfast.files.git import LOG_SAFE, run_git
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


def measure_files(root: Path, files: Iterable[str]) -> dict[str, int]:
    """The size in bytes of each file that is there."""
    found: dict[str, int] = {}
    top, folders = realpath(root), dict[str, str]()
    for file in dict.fromkeys(files):
        path = resolve_below(top, file, folders)
        with suppress(OSError):
            if path is not None and isfile(path):
                found[file] = getsize(path)
    return found


SECONDS = 10
MOST_COMMITS = 400
MOST_FILES = 500  # asked about in one go
WIDE = 30  # a commit of more files tells nothing about two of them
LEAST_TIMES = 2


def find_changed_together(root: Path, files: Sequence[str]) -> dict[tuple[str, str], float]:
    """For each two files, in which share of the rarer one's commits both changed; at least two."""
    # For a file outside the repository git fails, also for the other files of the question.
    asked = [file for file in files if not file.startswith(("/", "../"))][:MOST_FILES]
    commits = _commits(root, asked) if len(asked) > 1 else []
    alone: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for commit in commits:
        alone.update(commit)
        if len(commit) <= WIDE:
            both.update(combinations(sorted(commit), 2))
    return {
        (one, other): times / min(alone[one], alone[other])
        for (one, other), times in sorted(both.items())
        if times >= LEAST_TIMES
    }


def _commits(root: Path, files: Sequence[str]) -> list[set[str]]:
    """For each commit, which of these files it changed; none if there is no history."""
    words = [
        "log",
        f"-n{MOST_COMMITS}",
        "--no-merges",
        *LOG_SAFE,
        "--relative",
        "--name-only",
        "-z",
    ]
    words += ["--format=%x01", "--", *files]
    said = run_git(str(root), *words, seconds=SECONDS) or b""
    wanted = set(files)
    commits = said.decode("utf-8", "replace").split("\x01")
    found = ({name.strip("\n") for name in one.split("\0")} & wanted for one in commits)
    return [commit for commit in found if commit]

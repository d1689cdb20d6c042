"""The files of a project that a plan names: which are there, how large they are, what they say, and
which of them git saw changing together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from posixpath import (  # they take any name, unlike Path
    exists,
    getsize,
    isdir,
    isfile,
    islink,
    join,
    realpath,
    relpath,
    split,
)

from holdfast.files.git import LOG_SAFE, run_git
from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20
OUTSIDE = "not in this project, and not looked at"
MOST_NAMES = 200_000  # of a project without git; files beyond it are not seen
NOT_WALKED = (b"node_modules", b"__pycache__")


def resolve_inside(root: Path, file: str) -> Path | None:
    """The path of a file; None if its name or a link leads out of the project."""
    path = resolve_below(realpath(root), file, {})
    return Path(path) if path is not None else None


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
    below = join(folders[folder], name)
    return realpath(below) if name in ("", ".", "..") or islink(below) else below


def read_sources(root: Path, files: Iterable[str]) -> dict[str, bytes]:
    """The content of each file, without those that cannot be read, are outside, or are too large:
    a part of a file would show only some of its imports."""
    sources: dict[str, bytes] = {}
    left = MOST_ALL_BYTES
    for file in files:
        path = resolve_inside(root, file)
        data = places.read_small(str(path), MOST_BYTES + 1) if path else b""
        sources[file] = data if len(data) <= min(MOST_BYTES, left) else b""
        left -= len(sources[file])
    return sources


def find_missing(root: Path, files: Iterable[str]) -> list[str]:
    """The names inside the project at which nothing is, neither a file nor a folder."""
    top, folders = realpath(root), dict[str, str]()
    paths = {file: resolve_below(top, file, folders) for file in dict.fromkeys(files)}
    return [file for file, path in paths.items() if path is not None and not exists(path)]


def find_outside(root: Path, files: Iterable[str]) -> list[str]:
    """The names that lead out of the project."""
    top, folders = realpath(root), dict[str, str]()
    return [file for file in dict.fromkeys(files) if resolve_below(top, file, folders) is None]


class FileSizes:
    """The size of each file in bytes, looked up once; None for what is not a file."""

    def __init__(self, root: Path) -> None:
        self._top, self._folders = realpath(root), dict[str, str]()
        self._known: dict[str, int | None] = {}

    def of(self, file: str) -> int | None:
        if file not in self._known:
            path = resolve_below(self._top, file, self._folders)
            size = None
            with suppress(OSError):
                size = getsize(path) if path is not None and isfile(path) else None
            self._known[file] = size
        return self._known[file]

    def is_folder(self, file: str) -> bool:
        path = resolve_below(self._top, file, self._folders)
        return path is not None and isdir(path)


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
        pair: times / min(alone[file] for file in pair)
        for pair, times in sorted(both.items())
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
    printed = run_git(str(root), *words, seconds=SECONDS) or b""
    wanted = set(files)
    commits = printed.decode("utf-8", "replace").split("\x01")
    changed = ({name.strip("\n") for name in commit.split("\0")} & wanted for commit in commits)
    return [files_of_commit for files_of_commit in changed if files_of_commit]


def list_files(root: str) -> list[str]:
    """The names of all files, sorted."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    printed = run_git(root, *words, seconds=SECONDS)
    names = _walked(os.fsencode(root)) if printed is None else printed.split(b"\0")
    return sorted(name for name in set(_decoded(names)) if name and isfile(join(root, name)))


def _decoded(names: Iterable[bytes]) -> Iterator[str]:
    for name in names:
        try:
            yield name.decode()
        except UnicodeDecodeError:  # no plan could name it
            continue


def _walked(root: bytes) -> Iterator[bytes]:
    left = MOST_NAMES
    for folder, folders, files in os.walk(root):
        folders[:] = [n for n in folders if not n.startswith(b".") and n not in NOT_WALKED]
        for name in files[:left]:
            yield relpath(join(folder, name), root)
        left -= len(files)
        if left <= 0:
            return

"""The files of a project that a plan names: which are there, how large they are, what they say, and
which of them a pattern stands for.

`*`, `?` and `[…]` match within a folder, `**` over any number of folders. A folder stands for
itself: it says where to look, and nobody reads all of it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from posixpath import exists, getsize, isdir, isfile, islink, join, normpath, realpath, relpath

from holdfast.client.instructions import match_parts
from holdfast.files.git import run_git
from holdfast.plan.task import MOST_FILES, BadPlan, PlanTask, TaskPlan
from holdfast.wire import places

MOST_BYTES = 512 << 10
MOST_ALL_BYTES = 64 << 20
OUTSIDE = "not in this project, and not looked at"
MOST_NAMES = 200_000  # of a project without git; files beyond it are not seen
NOT_WALKED = (b"node_modules", b"__pycache__")
GIT_SECONDS = 10
MARKS = frozenset("*?[")
Begun = Mapping[tuple[str, str], tuple[str, ...]]  # by task and hash: the files of its patterns


class ProjectFiles:
    """Looks names up in one project, each folder and each file once."""

    def __init__(self, root: Path) -> None:
        self._root = realpath(root)
        self._folders: dict[str, str] = {}
        self._sizes: dict[str, int | None] = {}
        self._expanded: dict[str, tuple[str, ...]] = {}

    def resolve(self, file: str) -> str | None:
        """The path of a file; None if its name or a link leads out of the project."""
        try:
            path = self._resolve(join(self._root, file))
        except (OSError, ValueError):  # a name that cannot be
            return None
        top = self._root.rstrip("/") + "/"
        return path if path == self._root or path.startswith(top) else None

    def _resolve(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = realpath(folder or "/")
        below = join(self._folders[folder], name)
        return realpath(below) if name in ("", ".", "..") or islink(below) else below

    def size(self, file: str) -> int | None:
        """In bytes; None for what is not a file."""
        if file not in self._sizes:
            path, size = self.resolve(file), None
            with suppress(OSError):
                size = getsize(path) if path is not None and isfile(path) else None
            self._sizes[file] = size
        return self._sizes[file]

    def is_folder(self, file: str) -> bool:
        path = self.resolve(file)
        return path is not None and isdir(path)

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file for name in names for file in self._expand(name)))

    def _expand(self, file: str) -> tuple[str, ...]:
        """The files for a name; one without files stays: it may be made later."""
        if file not in self._expanded:
            path = self.resolve(file)
            name = file if path is None else path[len(self._root) :].lstrip("/") or "."
            self._expanded[file] = tuple(self._matches(name)) or (name,)
        return self._expanded[file]

    def _matches(self, name: str) -> Iterable[str]:
        if not MARKS.intersection(name) or name in self._all:
            return ()
        pattern = FilePattern(name)
        return (file for file in self._all if pattern.fits(file))

    @cached_property
    def _all(self) -> dict[str, None]:
        """All files of the project, sorted; listed only if a plan has patterns."""
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        printed = run_git(self._root, *words, seconds=GIT_SECONDS)
        data = _walk(os.fsencode(self._root)) if printed is None else printed.split(b"\0")
        names = {name.decode("utf-8", "replace") for name in data}
        return dict.fromkeys(
            sorted(name for name in names if name and isfile(join(self._root, name)))
        )


def _walk(root: bytes) -> Iterator[bytes]:
    left = MOST_NAMES
    for folder, folders, files in os.walk(root):
        folders[:] = [n for n in folders if not n.startswith(b".") and n not in NOT_WALKED]
        for name in files[:left]:
            yield relpath(join(folder, name), root)
        left -= len(files)
        if left <= 0:
            return


class FilePattern:
    def __init__(self, text: str) -> None:
        self._parts = normpath(text).split("/")
        plain = takewhile(lambda word: not MARKS.intersection(word), self._parts[:-1])
        self._folder = "".join(f"{word}/" for word in plain)  # every matching file is inside of it
        self._last = "*" if self._parts[-1] == "**" else self._parts[-1]

    def fits(self, name: str) -> bool:
        parts = name.split("/")
        if not name.startswith(self._folder) or not fnmatchcase(parts[-1], self._last):
            return False  # most names of a large project
        return match_parts(self._parts, parts)


def expand_patterns(plan: TaskPlan, root: Path, begun: Begun | None = None) -> TaskPlan:
    """The plan with the files of each pattern; a task that has started keeps those it had then."""
    project = ProjectFiles(root)
    return replace(plan, tasks=tuple(_expand(task, project, begun or {}) for task in plan.tasks))


def _expand(task: PlanTask, project: ProjectFiles, begun: Begun) -> PlanTask:
    if not task.files and not task.subtasks:
        return task
    known = begun.get((task.id, task.hash)) if begun else None
    paths = project.expand(task.files) if known is None else known
    if len(paths) > MOST_FILES:
        words = f"task {task.id!r}: its patterns fit {len(paths):,} files, at most {MOST_FILES:,}"
        raise BadPlan(words, task.line, "name the folder, or make several tasks of it")
    steps = tuple(_expand(step, project, begun) for step in task.subtasks)
    return replace(task, paths=paths, subtasks=steps)


def read_sources(root: Path, files: Iterable[str]) -> dict[str, bytes]:
    """The content of each file that can be read whole: a part would show some imports only."""
    project, sources, left = ProjectFiles(root), dict[str, bytes](), MOST_ALL_BYTES
    for file in files:
        path = project.resolve(file)
        data = places.read_small(path, MOST_BYTES + 1) if path else b""
        sources[file] = data if len(data) <= min(MOST_BYTES, left) else b""
        left -= len(sources[file])
    return sources


def find_missing(root: Path, files: Iterable[str]) -> list[str]:
    """The names inside the project at which nothing is, neither a file nor a folder."""
    project = ProjectFiles(root)
    paths = {file: project.resolve(file) for file in dict.fromkeys(files)}
    return [file for file, path in paths.items() if path is not None and not exists(path)]


def find_outside(root: Path, files: Iterable[str]) -> list[str]:
    project = ProjectFiles(root)
    return [file for file in dict.fromkeys(files) if project.resolve(file) is None]

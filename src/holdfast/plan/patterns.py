"""File patterns of a task, and the files they stand for.

`*`, `?` and `[…]` match within a folder, `**` over any number of folders. Anyone may have written
the plan: matching takes time in proportion to the pattern, whatever it is. A folder stands for
itself: it says where to look, and nobody reads all of it.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from posixpath import normpath, realpath

from holdfast.plan.fields import MOST_FILES
from holdfast.plan.project_files import list_files, resolve_below
from holdfast.plan.task import BadPlan, PlanTask, TaskPlan

MARKS = frozenset("*?[")
ANY = "**"
Begun = Mapping[tuple[str, str], tuple[str, ...]]  # by task and hash: the files of its patterns


class Pattern:
    """A compiled pattern. `folder`: every matching file is inside of it."""

    def __init__(self, text: str) -> None:
        words = normpath(text).split("/")
        plain = takewhile(lambda word: not MARKS.intersection(word), words[:-1])
        self.folder = "/".join(plain)
        self._parts = [
            None if part == ANY else re.compile(fnmatch.translate(part)) for part in words
        ]

    def fits(self, name: str) -> bool:
        """Follow all ways through the pattern at once; each is the number of parts it has used."""
        last = self._parts[-1]
        if last is not None and not last.match(name.rpartition("/")[2]):
            return False  # most names of a large project
        at = self._and_past({0})
        for part in name.split("/"):
            at = self._and_past({after for used in at for after in self._after(used, part)})
        return len(self._parts) in at

    def _after(self, used: int, name: str) -> tuple[int, ...]:
        if used == len(self._parts):
            return ()
        part = self._parts[used]
        if part is None:
            return (used,)
        return (used + 1,) if part.match(name) else ()

    def _and_past(self, at: set[int]) -> set[int]:
        """Add the positions after a `**`, which also matches nothing."""
        reached = set(at)
        for used in at:
            while used < len(self._parts) and self._parts[used] is None:
                used += 1
                reached.add(used)
        return reached


def expand_patterns(plan: TaskPlan, root: Path, begun: Begun | None = None) -> TaskPlan:
    """The plan with the files of each pattern; BadPlan if a task has more than a task may have.

    If parts of a task have started, it keeps the files it had then: files that its parts create or
    move do not change it.
    """
    names = _Names(root)
    return replace(plan, tasks=tuple(_task(task, names, begun or {}) for task in plan.tasks))


def _task(task: PlanTask, names: _Names, begun: Begun) -> PlanTask:
    if not task.files and not task.subtasks:
        return task
    known = begun.get((task.id, task.hash)) if begun else None
    paths = names.of(task.files) if known is None else known
    if len(paths) > MOST_FILES:
        words = f"task {task.id!r}: its patterns fit {len(paths):,} files, at most {MOST_FILES:,}"
        raise BadPlan(words, task.line, "name the folder, or make several tasks of it")
    steps = tuple(_task(step, names, begun) for step in task.subtasks)
    return replace(task, paths=paths, subtasks=steps)


class _Names:
    """The project's files, listed once, and only if a plan needs them."""

    def __init__(self, root: Path) -> None:
        self._root = realpath(root)
        self._known: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, str] = {}

    def of(self, files: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for file in files for name in self._of(file)))

    def _of(self, file: str) -> tuple[str, ...]:
        """The files for a name. A name without files stays: it may be made later. One file has
        one name, whether it was written from the root or through a linked folder."""
        if file not in self._known:
            path = resolve_below(self._root, file, self._folders)
            name = file if path is None else path[len(self._root) :].lstrip("/") or "."
            self._known[file] = tuple(self._matches(name)) or (name,)
        return self._known[file]

    def _matches(self, name: str) -> Iterable[str]:
        if not MARKS.intersection(name) or name in self._all:
            return ()
        pattern = Pattern(name)
        below = f"{pattern.folder}/" if pattern.folder else ""
        return (file for file in self._all if file.startswith(below) and pattern.fits(file))

    @cached_property
    def _all(self) -> dict[str, None]:
        return dict.fromkeys(list_files(self._root))

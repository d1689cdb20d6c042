"""File patterns of a task, and the files they stand for; and which names are folders.

`*`, `?` and `[…]` match within a folder, `**` over any number of folders. Anyone may have written
the plan: matching takes time in proportion to the pattern, whatever it is.

A pattern (`src/**/*.ts`) means all its files, for estimates, for cutting, and for what may run side
by side. The task stays as the plan wrote it: one more file does not make it another task. A folder
(`tests/api`) says where to look: real tasks that name one read a few of its files, so it stays a
folder unless it holds so few that all may be meant. The same holds for the pattern of a rename, a
removal or a search: only the files that contain what is looked for change.
"""

from __future__ import annotations

import fnmatch
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from posixpath import isdir, isfile, normpath, realpath

from holdfast.plan.estimates.features import UNSTATED_FILES
from holdfast.plan.files.listing import list_files
from holdfast.plan.files.project_files import resolve_below
from holdfast.plan.formats.fields import MOST_FILES
from holdfast.plan.kinds import looks_for_its_files
from holdfast.plan.task import BadPlan, PlanTask, TaskPlan

MARKS = frozenset("*?[")
ANY = "**"
Begun = Mapping[tuple[str, str], tuple[str, ...]]  # by task and hash: the files in its folders


class Pattern:
    """A compiled pattern. `folder`: every matching file is inside of it."""

    def __init__(self, text: str) -> None:
        words = normpath(text).split("/")
        plain = takewhile(lambda word: not MARKS.intersection(word), words[:-1])
        self.folder = "/".join(plain) or "."
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
            at = self._and_past({after for one in at for after in self._after(one, part)})
        return len(self._parts) in at

    def _after(self, at: int, name: str) -> tuple[int, ...]:
        if at == len(self._parts):
            return ()
        part = self._parts[at]
        if part is None:
            return (at,)
        return (at + 1,) if part.match(name) else ()

    def _and_past(self, at: set[int]) -> set[int]:
        """Add the positions after a `**`, which also matches nothing."""
        found = set(at)
        for one in at:
            while one < len(self._parts) and self._parts[one] is None:
                one += 1
                found.add(one)
        return found


def expand_patterns(plan: TaskPlan, root: Path, begun: Begun | None = None) -> TaskPlan:
    """The plan with patterns replaced by files; BadPlan if one matches more than a task may have.

    If parts of a task have started, it keeps the files it had then: files that its parts create or
    move do not change it.
    """
    names = _Names(root)
    return replace(plan, tasks=tuple(_task(task, names, begun or {}) for task in plan.tasks))


def _task(task: PlanTask, names: _Names, begun: Begun) -> PlanTask:
    known = begun.get((task.id, task.hash)) if begun else None
    if known is None and not (task.files or task.groups or task.subtasks):
        return task
    if known is None and task.files and not task.groups and looks_for_its_files(task.title):
        return replace(task, held=names.counted(task.files))
    groups = [names.of(group) for group in task.groups]
    if known is not None:
        groups = [tuple(file for file in group if file in known) for group in groups]
    found = replace(
        task,
        files=names.of(task.files) if known is None else known,
        groups=tuple(group for group in groups if group),
        subtasks=tuple(_task(step, names, begun) for step in task.subtasks),
    )
    found = replace(found, held=names.held(found.files))
    if known is None and len(found.files) > MOST_FILES:
        words = f"its patterns fit {len(found.files):,} files, and {MOST_FILES:,} is the most"
        raise BadPlan(
            f"task {task.id!r}: {words}", task.place, "name the folder, or make several tasks of it"
        )
    return found if found == task else replace(found, written=task)


class _Names:
    """The project's files, listed once, and only if a plan needs them."""

    def __init__(self, root: Path) -> None:
        self._root = realpath(root)
        self._known: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def of(self, files: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for file in files for name in self._of(file)))

    def _of(self, file: str) -> tuple[str, ...]:
        """The files for a name. A name without files stays: it may be made later. One file has
        one name, whether it was written from the root or through a linked folder."""
        if file not in self._known:
            path = resolve_below(self._root, file, self._folders)
            name = file if path is None else path[len(self._root) :].lstrip("/") or "."
            self._known[file] = tuple(self._held(name, path)) or (name,)
        return self._known[file]

    def counted(self, files: Sequence[str]) -> dict[str, int]:
        """How many files each folder or pattern stands for, if more than one."""
        found: dict[str, int] = {}
        for file in files:
            held = len(self._of(file))
            found[file] = self._counts.get(file, held) if held == 1 else held
        return {file: count for file, count in found.items() if count > 1}

    def held(self, files: Sequence[str]) -> dict[str, int]:
        """How many files each folder holds."""
        return {name: self._counts[name] for name in files if name in self._counts}

    def _held(self, name: str, path: str | None) -> Iterable[str]:
        if path is None or isfile(path):
            return ()
        if isdir(path):
            return self._few_below(name)
        if not MARKS.intersection(name):
            return ()
        pattern = Pattern(name)
        return (one for one in self._below(pattern.folder) if pattern.fits(one))

    def _few_below(self, folder: str) -> list[str]:
        first, past = self._slice(folder)
        if past - first <= UNSTATED_FILES:
            return self._all[first:past]
        self._counts[folder] = past - first
        return []

    def _below(self, folder: str) -> list[str]:
        first, past = self._slice(folder)
        return self._all[first:past]

    def _slice(self, folder: str) -> tuple[int, int]:
        """The files of a folder, by bisection: a scan per folder would take minutes."""
        if folder == ".":
            return 0, len(self._all)
        first, past = (bisect_left(self._all, f"{folder}{end}") for end in ("/", "0"))
        return first, past  # "0" is what comes after "/"

    @cached_property
    def _all(self) -> list[str]:
        return list_files(self._root)

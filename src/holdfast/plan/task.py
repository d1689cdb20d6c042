"""A plan and its tasks, as values, and what can be wrong with them: each error has its place in the
file and the next thing to try.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert


@dataclass(frozen=True, slots=True)
class PlanPosition:
    """A place in the file. Lines and columns count from 1; 0 is unknown."""

    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}" if self.column else str(self.line)


class BadPlan(HoldfastError):
    """A plan that cannot be used as it is written."""

    exit_code = 2
    hint = "correct this line; the file was not changed"

    def __init__(self, words: str, place: PlanPosition | None = None, hint: str = "") -> None:
        """`hint`: what to write instead."""
        super().__init__(inert(words))
        self.place = place or PlanPosition()
        self.hint = inert(hint) or self.hint

    def named(self, file: str) -> BadPlan:
        """The same error, with file and line in front."""
        at = f"{file}:{self.place}: " if self.place.line else f"{file}: "
        found = type(self)(f"{at}{self}")
        found.hint = self.hint
        return found


class NoPlan(BadPlan):
    """There is no such file, or it cannot be read."""

    hint = "name a JSON or YAML file, or a markdown list of `- [ ] tasks`"


class NoTasks(BadPlan):
    """Markdown without a checkbox, in which nothing else is clearly the list of tasks. Plain
    bullets may be anything."""

    hint = "write `- [ ] ` before each task: `- [ ] Fix the parser`; indent the text below it"


class DependencyCycle(BadPlan):
    """Tasks that wait for each other."""

    hint = "remove one of these dependencies"

    def __init__(self, words: str, place: PlanPosition | None = None, hint: str = "") -> None:
        super().__init__("", place, hint)
        self.args = (inert(words, 100_000),)  # named in full, however long


HASH_CHARS = 16


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task. `spec` is the id of the task it was cut from, else its own id."""

    id: str
    title: str
    description: str = ""
    files: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    subtasks: tuple[PlanTask, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    estimate_tokens: int | None = None
    estimated_files: int | None = None
    keep_together: bool = False
    wave: int | None = None  # it waits for all tasks of the wave before
    section: str = field(default="", compare=False)  # the headings that it stands under
    number: int | None = field(default=None, compare=False)  # by which others of its list name it
    done: bool = False
    spec: str = ""
    written: PlanTask | None = field(default=None, compare=False)  # before patterns were expanded
    held: Mapping[str, int] = field(default_factory=dict, compare=False)  # files in its folders
    part: str = field(default="", compare=False)  # "2 of 3", of a task that was cut
    unread: str = field(default="", compare=False)  # looks like a dependency, but names no task
    joins: str = field(default="", compare=False)  # the task it goes on with: `Same for the parser`
    against: str = field(default="", compare=False)  # listed before it, though said to come after
    is_base: bool = field(default=False, compare=False)  # all later tasks build on it
    is_ordered: bool = field(default=False, compare=False)  # it speaks of an order beside `depends`
    place: PlanPosition = field(default=PlanPosition(), compare=False)

    @property
    def words(self) -> str:
        return f"{self.title}\n{self.description}" if self.description else self.title

    @property
    def shown(self) -> str:
        return f"{self.title} (part {self.part})" if self.part else self.title

    @property
    def folders(self) -> tuple[str, ...]:
        """Those of its files that are folders."""
        return tuple(dict.fromkeys(name for name in self._names() if name in self._held()))

    @property
    def file_count(self) -> int | None:
        """How many files it will touch, with those of its open steps and without folders. None if
        the plan does not say."""
        return len(set(self._names()) - set(self.folders)) or self.estimated_files

    def _names(self) -> tuple[str, ...]:
        steps = (name for step in self.subtasks if not step.done for name in step.files)
        return (*self.files, *steps)

    def _held(self) -> set[str]:
        return set(self.held).union(*(step.held for step in self.subtasks))

    @property
    def hash(self) -> str:
        """A hash of what is to be done. It changes with the work, not with the rest of the list."""
        if self.written is not None:
            return self.written.hash
        return digest(
            [
                self.id,
                self.title,
                self.description,
                list(self.files),
                [one.hash for one in self.subtasks],
                [list(group) for group in self.groups],
            ]
        )


@dataclass(frozen=True, slots=True)
class TaskPlan:
    title: str
    tasks: tuple[PlanTask, ...]
    description: str = ""  # the text outside its tasks: rules that apply to all of them
    notes: tuple[str, ...] = field(default=(), compare=False)  # on how its file was read


def digest(value: object) -> str:
    """A hash that is the same for the same value on every machine."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(data).hexdigest()[:HASH_CHARS]

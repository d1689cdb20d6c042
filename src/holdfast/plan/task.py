"""A plan and its tasks, as values, and what can be wrong with them: each error has its line in the
file and the next thing to try.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

CONVERT = "to have a session write the tasks in a form that can be read: /holdfast:plan FILE"


class BadPlan(HoldfastError):
    """A plan that cannot be used as it is written."""

    exit_code = 2
    hint = "correct this line; the file was not changed"

    def __init__(self, words: str, line: int = 0, hint: str = "") -> None:
        """`line` counts from 1; 0 is unknown. `hint`: what to write instead."""
        super().__init__(inert(words, 100_000))  # a circle of tasks is named in full
        self.line = line
        self.hint = inert(hint) or self.hint

    def named(self, file: str) -> BadPlan:
        """The same error, with file and line in front."""
        place = f"{file}:{self.line}" if self.line else file
        return type(self)(f"{place}: {self}", hint=self.hint.replace("FILE", inert(file)))


class NoPlan(BadPlan):
    """There is no such file, or it cannot be read."""

    hint = "name a JSON or YAML file, or a Markdown list of `- [ ] tasks`"


class NotAPlan(BadPlan):
    """A document that is about something else than tasks to do."""

    hint = CONVERT


class DependencyCycle(BadPlan):
    """Tasks that wait for each other."""

    hint = "remove one of these dependencies"


HASH_CHARS = 16


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task. `spec` is the id of the task it was cut from, else its own id."""

    id: str
    title: str
    description: str = ""
    files: tuple[str, ...] = ()  # as the plan names them: also patterns and folders
    depends: tuple[str, ...] = ()
    subtasks: tuple[PlanTask, ...] = ()
    size_tokens: int | None = None
    phase: int | None = None  # it waits for all tasks of the phases before
    parallel: bool = False  # the plan marks it with [P]
    whole: bool = False  # it is never cut
    done: bool = False
    spec: str = ""
    paths: tuple[str, ...] = field(default=(), compare=False)  # what `files` stand for
    section: str = field(default="", compare=False)  # the headings that it stands below
    part: str = field(default="", compare=False)  # "2 of 3", of a task that was cut
    line: int = field(default=0, compare=False)

    @property
    def words(self) -> str:
        return f"{self.title}\n{self.description}" if self.description else self.title

    @property
    def shown(self) -> str:
        return f"{self.title} (part {self.part})" if self.part else self.title

    @property
    def open_subtasks(self) -> tuple[PlanTask, ...]:
        return tuple(step for step in self.subtasks if not step.done)

    @property
    def all_paths(self) -> tuple[str, ...]:
        """Its files and those of its open subtasks, each once."""
        steps = (name for step in self.open_subtasks for name in step.paths)
        return tuple(dict.fromkeys((*self.paths, *steps)))

    @property
    def hash(self) -> str:
        """A hash of what is to be done. It changes with the work, not with the rest of the list,
        nor with the files that its patterns stand for."""
        steps = [step.hash for step in self.subtasks]
        return digest([self.id, self.title, self.description, list(self.files), steps])


@dataclass(frozen=True, slots=True)
class TaskPlan:
    title: str
    tasks: tuple[PlanTask, ...]
    description: str = ""  # the text outside its tasks: context for every session
    notes: tuple[str, ...] = field(default=(), compare=False)  # on how its file was read


def digest(value: object) -> str:
    """A hash that is the same for the same value on every machine."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(data).hexdigest()[:HASH_CHARS]

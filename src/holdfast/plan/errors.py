"""What can be wrong with a plan, said with its place and the next thing to try."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert


@dataclass(frozen=True, slots=True)
class PlanPosition:
    """Where in the file; lines and columns count from 1, 0 is not known."""

    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}" if self.column else str(self.line)


class BadPlan(HoldfastError):
    """A plan that cannot be carried out as it is written."""

    exit_code = 2
    hint = "correct this line; the file was not changed"

    def __init__(self, words: str, place: PlanPosition | None = None, hint: str = "") -> None:
        """`hint`: what to write instead."""
        super().__init__(inert(words))
        self.place = place or PlanPosition()
        self.hint = inert(hint) or self.hint

    def named(self, file: str) -> BadPlan:
        """The same, with the file and the line before it."""
        at = f"{file}:{self.place}: " if self.place.line else f"{file}: "
        found = type(self)(f"{at}{self}")
        found.hint = self.hint
        return found


class NoPlan(BadPlan):
    """There is no such file, or nothing to be read in it."""

    hint = "name a JSON or YAML file, or a markdown list of `- [ ] tasks`"


class NoTasks(BadPlan):
    """Markdown without one box. Plain bullets may be anything, so none is taken for a task."""

    hint = "write `- [ ] ` before each task: `- [ ] Fix the parser`"


class DependencyCycle(BadPlan):
    """Tasks that wait for each other."""

    hint = "take one of these dependencies out"

    def __init__(self, words: str, place: PlanPosition | None = None, hint: str = "") -> None:
        super().__init__("", place, hint)
        self.args = (inert(words, 100_000),)  # named in full, however long

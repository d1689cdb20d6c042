"""What can be wrong with a plan, with its place in the file and the next thing to try."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Markdown without a checkbox. Plain bullets may be anything, so they are not tasks."""

    hint = "write `- [ ] ` before each task: `- [ ] Fix the parser`"


class DependencyCycle(BadPlan):
    """Tasks that wait for each other."""

    hint = "remove one of these dependencies"

    def __init__(self, words: str, place: PlanPosition | None = None, hint: str = "") -> None:
        super().__init__("", place, hint)
        self.args = (inert(words, 100_000),)  # named in full, however long

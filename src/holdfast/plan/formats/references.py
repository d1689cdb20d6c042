"""Which task `depends` names: by id, title, label or number, one or several with commas between.

People write what they see: a title that holds commas itself, `3` for the third task of the list,
`T2` for the task whose title begins `T2:`. Whatever is unclear is refused, with what there is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from holdfast.plan.errors import BadPlan
from holdfast.plan.formats.ids import slug
from holdfast.plan.task import Task

_WITHIN = re.compile(r""""[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|[^,"'`]+|.""")
_MARKS = " \t\"'`*_[]"
_NUMBER = re.compile(r"(?:task|step)?\s*#?\s*(\d{1,5})\.?", re.IGNORECASE)
_LABEL = re.compile(
    r"[\W_]*(\w[\w.-]{0,20}?(?: \d{1,4})?)[*_`]*\s*(?::|\)|\.\s|\s[-\u2013\u2014]\s)"
)
MOST_NAMED = 1000  # tasks that are looked at for one spelt nearly so


def parted(text: str) -> list[str]:
    """At commas, but not at those between quotation marks."""
    found = [""]
    for one in _WITHIN.findall(text):
        if one == ",":
            found.append("")
        else:
            found[-1] += one
    return [part.strip() for part in found if unquoted(part)]


def unquoted(text: str) -> str:
    return text.strip(" \t\"'`")


def bare(text: str) -> str:
    """Without the marks that set a title off."""
    return text.strip(_MARKS)


class References:
    def __init__(self, tasks: Sequence[Task]) -> None:
        self._ids = {task.id for task in tasks}
        self._listed = [task.id for task in tasks]
        self._titles: dict[str, str] = {}
        for task in tasks:
            self._titles.setdefault(slug(task.title), task.id)
        labels = [(label[1].casefold(), t.id) for t in tasks if (label := _LABEL.match(t.title))]
        counts = Counter(name for name, _ in labels)
        self._labels = {name: task for name, task in labels if counts[name] == 1}

    def of(self, task: Task) -> tuple[str, ...]:
        found = (name for given in task.depends for name in self._all(given, task))
        return tuple(dict.fromkeys(found))

    def _all(self, given: str, task: Task) -> Iterator[str]:
        """All of it is one, or each part is, or some parts together: titles hold commas too."""
        if whole := self._one(given):
            yield whole
            return
        parts = parted(given)
        while parts:
            ends = range(len(parts), 0, -1) if any(not self._one(part) for part in parts) else (1,)
            taken = next((n for n in ends if self._one(", ".join(parts[:n]))), 0)
            if not taken:
                raise self._no_task(parts[0], task)
            yield self._one(", ".join(parts[:taken]))
            del parts[:taken]

    def _one(self, wanted: str) -> str:
        """The task that is meant; empty where there is none."""
        name = bare(wanted)
        if name in self._ids:
            return name
        number = _NUMBER.fullmatch(name)
        known = self._titles.get(slug(name)) or self._labels.get(name.casefold())
        if known or not number:
            return known or ""
        at = int(number[1])
        return self._listed[at - 1] if 0 < at <= len(self._listed) else ""

    def _no_task(self, wanted: str, task: Task) -> BadPlan:
        name = bare(wanted)
        near = get_close_matches(slug(name), sorted(self._ids)[:MOST_NAMED], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        words = f"task {task.id!r} depends on {name!r}, which is no task{meant}"
        count = len(self._listed)
        how = f"name a task by its title, its id, or its number in the list (1 to {count:,})"
        return BadPlan(words, task.place, f"{how}, with commas between several")

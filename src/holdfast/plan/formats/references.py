"""References to tasks: by id, title, label or number, one or several.

People write what they see: a title that contains commas itself, `3` for the third task of the list,
`T2` for the task whose title starts with `T2:`, `2-5` and `2 and 3` for several, `all above`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain

from holdfast.plan.formats.fields import slug
from holdfast.plan.task import BadPlan, PlanTask

_WITHIN = re.compile(r""""[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|[^,"'`]+|.""")
_MARKS = " \t\"'`*_[]"
_NUMBER = re.compile(r"(?:task|step)?\s*#?\s*(\d{1,5})\.?", re.IGNORECASE)
_LABEL = re.compile(
    r"[\W_]*(\w[\w.-]{0,20}?(?: \d{1,4})?)[*_`]*\s*(?::|\)|\.\s|\s[-\u2013\u2014]\s)"
)
_BETWEEN = re.compile(r"(.{1,40}?)\s*(?:\.{2,3}|[-\u2013\u2014]|\bto\b|\bthrough\b)\s*(.{1,40})")
_JOINED = re.compile(r"\s*(?:\band\b|&|\+|;)\s*")
_ABOVE = re.compile(
    r"(?:all|everything|every task)(?: of)?(?: the)?(?: tasks?)?"
    r"(?: above| before| previous| earlier| others?)?(?: tasks?| ones?)?",
    re.IGNORECASE,
)
# `(after T1)` or ` - after T1` at the end of a title: the title is also named without it.
_AFTER = re.compile(
    r"(?:\s*[(\[]|\s[-\u2013\u2014]+\s|[,;.]\s)\s*"
    r"(?:after|depends (?:up)?on|needs|requires|blocked by|waits for)\b"
    r"[^()\[\]]{1,200}[)\]]?[\s.*_`]*$",
    re.IGNORECASE,
)
_PHASES = re.compile(
    r"(?:(?:all|everything|every task|tasks?)\s+)*(?:(?:of|in|from|the)\s+)*"
    r"(?:phase|wave|stage|milestone)s?\s+"
    r"(\d{1,4}(?:(?:\s*(?:,|&|\+|-|\u2013|\band\b|\bto\b|phase|wave|stage|milestone)+\s*)+\d{1,4})*)",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(?:the\s+)?(?:tasks?|steps?|items?|numbers?)\s+(?=[#\d])", re.IGNORECASE)
_WORD = re.compile(r"\w{3,}")
_COMMON = re.compile(  # words that say nothing about which task is meant
    r"the|th[ei]se?|that|those|and|all|any|one|new|old|its|their|tasks?|steps?|items?|was|were|has"
    r"|have|been|being|are|for|from|with|into|not|yet|there|here|done|others?|work|first|last"
    r"|results?|above|below|before|after|previous|earlier|this"
)
MOST_LIKELY = 20  # titles with one word that are looked at: a plan may have 20,000
MOST_SEVERAL = 200_000  # dependencies that ranges stand for: a short line must not take hours
MOST_NAMED = 1000  # tasks that are looked at for one spelt nearly so


def split_references(text: str) -> list[str]:
    """Split at commas outside of quotation marks."""
    found = [""]
    for one in _WITHIN.findall(text):
        if one == ",":
            found.append("")
        else:
            found[-1] += one
    return [part.strip() for part in found if strip_quotes(part)]


def strip_quotes(text: str) -> str:
    return text.strip(" \t\"'`")


def normalize(text: str) -> str:
    """The text without the characters that set a title off."""
    return text.strip(_MARKS)


def _too_many(task: PlanTask) -> BadPlan:
    words = f"ranges such as `2-5` stand for more than {MOST_SEVERAL:,} dependencies"
    return BadPlan(words, task.place, "write headings such as `## Wave 2` instead")


def _unique(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each name stands for. Empty names, and those of several tasks, are left out."""
    pairs = list(found)
    counts = Counter(name for name, _ in pairs)
    return {name: task for name, task in pairs if name and counts[name] == 1}


def is_nothing(given: str) -> bool:
    """Whether it says that there is no dependency."""
    return normalize(given).rstrip(".").lower() in (
        "none",
        "nothing",
        "n/a",
        "-",
        "\u2014",
    )


def find_label(title: str) -> str:
    """The number or label that a title begins with: `3` or `T2`; empty if it has none."""
    label = _LABEL.match(title)
    return label[1] if label and label[1][-1].isdigit() else ""


def _holds(places: list[int], at: int) -> bool:
    """Whether a sorted list has a number."""
    found = bisect_left(places, at)
    return found < len(places) and places[found] == at


class References:
    def __init__(self, tasks: Sequence[PlanTask]) -> None:
        self._ids = {task.id for task in tasks}
        self._listed = [task.id for task in tasks]
        self._several_left = MOST_SEVERAL
        self._places = {name: at for at, name in enumerate(self._listed)}
        self._titles: dict[str, str] = {}
        for task in tasks:
            self._titles.setdefault(slug(task.title), task.id)
        found = [(label, task) for task in tasks if (label := _LABEL.match(task.title))]
        self._labels = _unique((label[1].casefold(), task.id) for label, task in found)
        bare = [(task.title[label.end() :], task.id) for label, task in found]
        bare += [(task.title, task.id) for task in tasks if _AFTER.search(task.title)]
        short = _unique((slug(_AFTER.sub("", title)), name) for title, name in bare)
        self._titles = short | self._titles  # `Write it` also means `T2: Write it (after T1)`
        self._waves: dict[int, list[str]] = {}
        self._words: dict[str, list[int]] = {}  # in which titles each word is
        for at, task in enumerate(tasks):
            if task.wave is not None:
                self._waves.setdefault(task.wave, []).append(task.id)
            for word in set(_WORD.findall(task.title.casefold())):
                self._words.setdefault(word, []).append(at)

    def of(self, task: PlanTask) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for given in task.depends:
            for part, names in self.find(given, task):
                if not names and (by_words := self.find_by_words(part, task)):
                    names = [by_words]
                if not names and not is_nothing(given):
                    raise self._no_task(part, task)
                found.update(dict.fromkeys(names))
        return tuple(found)

    def find(self, given: str, task: PlanTask) -> Iterator[tuple[str, list[str]]]:
        """The parts of a text, and the tasks that each means; none for a part that names none."""
        phases = _PHASES.fullmatch(given.strip())
        if phases and (found := self._in_phases(phases[1])):
            yield given, [name for name in found if name != task.id]
            return
        yield from self._parts(_PLURAL.sub("", given), task)

    def above(self, task: PlanTask) -> list[str]:
        return self._listed[: self._places[task.id.rpartition("/")[2]]]

    def _in_phases(self, numbers: str) -> list[str]:
        """The tasks of `1 and 2` or `1-3`, as numbers of phases."""
        found: list[int] = []
        for first, last in re.findall(r"(\d+)(?:\s*(?:-|\u2013|\bto\b)\s*(\d+))?", numbers):
            found += [n for n in self._waves if int(first) <= n <= int(last or first)]
        return [name for number in found for name in self._waves[number]]

    def find_by_words(self, given: str, task: PlanTask) -> str:
        """The only earlier task whose title has all telling words of the text; empty if there is
        none or more than one."""
        words = [word for word in _WORD.findall(given.casefold()) if not _COMMON.fullmatch(word)]
        own = self._places[task.id]
        earlier = [self._words.get(word, []) for word in words]
        counts = [bisect_left(places, own) for places in earlier]
        if not words or not 0 < min(counts) <= MOST_LIKELY:
            return ""
        rarest = counts.index(min(counts))
        likely = earlier[rarest][: counts[rarest]]
        found = [at for at in likely if all(_holds(places, at) for places in earlier)]
        return self._listed[found[0]] if len(found) == 1 else ""

    def _parts(self, given: str, task: PlanTask) -> Iterator[tuple[str, list[str]]]:
        """The parts of a text, and the tasks that each means: the whole text is one name, or its
        parts are, or several parts together, because titles may contain commas."""
        if whole := self._one(given):
            yield given, [whole]
            return
        parts = split_references(given)
        while parts:
            ends = range(len(parts), 0, -1) if any(not self._one(part) for part in parts) else (1,)
            taken = next((n for n in ends if self._one(", ".join(parts[:n]))), 0)
            if taken:
                yield parts[0], [self._one(", ".join(parts[:taken]))]
            else:
                several = self._several(parts[0], task)
                self._several_left -= len(several)
                if self._several_left < 0:
                    raise _too_many(task)
                yield parts[0], several
            del parts[: taken or 1]

    def _several(self, wanted: str, task: PlanTask) -> list[str]:
        """The tasks meant by `2-5`, `2 and 3` or `all above`; none if it is something else."""
        name = normalize(wanted)
        if _ABOVE.fullmatch(name):
            return self.above(task)
        between = _BETWEEN.fullmatch(name)
        first, last = map(self._one, between.groups()) if between else ("", "")
        if first and last:
            return self._listed[self._places[first] : self._places[last] + 1]
        parts = _JOINED.split(name)
        if len(parts) == 1:
            return []
        found = [[one] if (one := self._one(part)) else self._several(part, task) for part in parts]
        return list(chain(*found)) if all(found) else []

    def _one(self, wanted: str) -> str:
        """The id of the task that is meant; empty if there is none."""
        name = normalize(wanted)
        if name in self._ids:
            return name
        number = _NUMBER.fullmatch(name)
        known = self._titles.get(slug(name)) or self._labels.get(name.casefold())
        if known or not number:
            return known or ""
        at = int(number[1])
        return self._listed[at - 1] if 0 < at <= len(self._listed) else ""

    def _no_task(self, wanted: str, task: PlanTask) -> BadPlan:
        name = normalize(wanted)
        near = get_close_matches(slug(name), sorted(self._ids)[:MOST_NAMED], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        words = f"task {task.id!r} depends on {name!r}, which is no task{meant}"
        count = len(self._listed)
        how = f"name a task by its title, its id, or its number in the list (1 to {count:,})"
        several = "several as `2, 4`, `2-5` or `all above`"
        return BadPlan(words, task.place, f"{how}; {several}")

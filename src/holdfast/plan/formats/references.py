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
# Ids without a mark: `T-1 Make it quick`, `1.2 Dye it`, `#402 Cut it`, `[#404](https://…) Sew it`.
_BARE_LABEL = re.compile(
    r"\[?(?:#(?=\d)|(?=[A-Z]|\d+\.\d))([A-Z]{0,8}-?\d{1,5}(?:\.\d{1,3})*)\b"
    r"(?:\]\([^()\s]*\)|\])?(?=\s)"
)
_BETWEEN = re.compile(r"(.{1,40}?)\s*(?:\.{2,3}|[-\u2013\u2014]|\bto\b|\bthrough\b)\s*(.{1,40})")
_JOINED = re.compile(r"\s*(?:\band\b|&|\+|;)\s*")
_ABOVE = re.compile(
    r"(?:(?:the )?results? (?:of|from) )?"
    r"(?:(?:all|everything|every task)(?: of)?(?: the)?(?: tasks?)?"
    r"(?: above| before| previous| earlier| others?| else| so far)?(?: tasks?| steps?| ones?)?"
    r"|(?:both|all)(?: the)? (?:parts|phases|sections)|the above)",
    re.IGNORECASE,
)
# `(after T1)` or ` - after T1` at the end of a title: the title is also named without it.
_AFTER = re.compile(
    r"(?:\s*[(\[]|\s[-\u2013\u2014]+\s|[,;.]\s)\s*"
    r"(?:after|depends (?:up)?on|needs|requires|blocked by|waits for)\b"
    r"[^()\[\]]{1,200}[)\]]?[\s.*_`]*$",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"(.+?),?\s+(?:except|but not|apart from|other than|without)(?: for)?\s+(.+)")
_PREVIOUS = re.compile(
    r"(?:the )?(?:previous|preceding|last) (?:task|step|item|one)|the (?:task|step|item|one) "
    r"(?:before|above)(?: (?:it|this))?|the one before",
    re.IGNORECASE,
)
_PHASES = re.compile(
    r"(?:(?:all|everything|every task|tasks?)\s+)*(?:(?:of|in|from|the)\s+)*"
    r"(?:(?:phase|wave|stage|milestone)s?\s+|M(?=\d))"
    r"(\d{1,4}(?:(?:\s*(?:,|&|\+|-|\u2013|\band\b|\bto\b|phase|wave|stage|milestone)+\s*)+\d{1,4})*)",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"(?:the\s+)?(?:tasks?|steps?|items?|points?|tickets?|numbers?)\s+"
    r"(?=[#\d]|(?-i:[A-Z]{1,8}-?\d|[A-Z]\b))",
    re.IGNORECASE,
)
# `the first point`, and `the Core part` for all tasks below the heading Core.
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ORDINAL = re.compile(
    rf"(?:the )?({'|'.join(_ORDINALS)}) (?:task|step|item|point|bullet)", re.IGNORECASE
)
_SECTION = re.compile(
    r"(?:the |all of |everything in |everything under )*(?P<name>.{1,80}?)"
    r"(?: (?:part|section|phase|stage|work|tasks?|steps?|stuff|items)s?)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{3,}")
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ate[ds]?|ions?|ings?|e[ds]?|s)$")
_COMMON = re.compile(  # words that say nothing about which task is meant
    r"the|th[ei]se?|that|those|and|all|any|one|new|old|its|their|tasks?|steps?|items?|was|were|has"
    r"|have|been|being|are|for|from|with|into|not|yet|there|here|done|others?|work|first|last"
    r"|results?|above|below|before|after|previous|earlier|this|part|both|them|ready"
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
    words = f"ranges such as `2-5` or `all above` stand for more than {MOST_SEVERAL:,} dependencies"
    return BadPlan(words, task.place, "write headings such as `## Wave 2` instead")


def _unique(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each name stands for. Empty names, and those of several tasks, are left out."""
    pairs = list(found)
    counts = Counter(name for name, _ in pairs)
    return {name: task for name, task in pairs if name and counts[name] == 1}


def is_nothing(given: str) -> bool:
    """Whether it says that there is no dependency."""
    said = normalize(given).strip(".-\u2010\u2011\u2012\u2013\u2014\u2015\u2212 ").lower()
    return said in ("", "none", "none yet", "nothing", "nothing yet", "no", "n/a", "n.a", "na")


def find_label(title: str) -> str:
    """The number or label that a title begins with: `3` or `T2`; empty if it has none."""
    label = _LABEL.match(title)
    return label[1] if label and label[1][-1].isdigit() else ""


def _stem(word: str) -> str:
    """A word without its ending, so that `the extraction` is the task that says `Extract`."""
    return _ENDING.sub("", word)


def _telling_words(text: str) -> set[str]:
    """The words of a text by which a task can be found."""
    found = _WORD.findall(text.casefold())
    return {_stem(one) for one in found if not _COMMON.fullmatch(one)}


def _labels(tasks: Sequence[PlanTask]) -> Iterator[tuple[str, int, PlanTask]]:
    """The label of each task that has one, and where it ends."""
    for task in tasks:
        if label := _LABEL.match(task.title) or _BARE_LABEL.match(task.title):
            yield label[1].casefold(), label.end(), task


def _number_lists(tasks: Sequence[PlanTask]) -> dict[str, dict[int, str]]:
    """For each task the numbers in its list, which begins anew where numbers do not rise. None if
    not every task has a number, or all have the same (`1.`, `1.`, `1.`)."""
    numbers = [task.number for task in tasks]
    if None in numbers or len(set(numbers)) < 2:
        return {}
    found: dict[str, dict[int, str]] = {}
    last, current = 0, dict[int, str]()
    for task in tasks:
        number = task.number or 0
        current = current if number > last else {}
        current[number], last = task.id, number
        found[task.id] = current
    return found


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
        self._numbers = _number_lists(tasks)
        found = list(_labels(tasks))
        self._labels = _unique((label, task.id) for label, _, task in found)
        bare = [(task.title[end:], task.id) for _, end, task in found]
        bare += [(task.title, task.id) for task in tasks if _AFTER.search(task.title)]
        short = _unique((slug(_AFTER.sub("", title)), name) for title, name in bare)
        self._titles = short | self._titles  # `Write it` also means `T2: Write it (after T1)`
        self._waves: dict[int, list[str]] = {}
        self._sections: dict[str, list[str]] = {}
        self._words: dict[str, list[int]] = {}  # in which titles each word is
        for at, task in enumerate(tasks):
            if task.wave is not None:
                self._waves.setdefault(task.wave, []).append(task.id)
            self._sections.setdefault(slug(task.section), []).append(task.id)
            for word in _telling_words(task.title):
                self._words.setdefault(word, []).append(at)

    def of(self, task: PlanTask) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for given in task.depends:
            for part, names in self.find(given, task):
                names = names or self.find_by_words(part, task)
                if not names and not is_nothing(given):
                    raise self._no_task(part, task)
                found.update(dict.fromkeys(names))
        return tuple(found)

    def find(self, given: str, task: PlanTask) -> Iterator[tuple[str, list[str]]]:
        """The parts of a text, and the tasks that each means; none for a part that names none."""
        phases = _PHASES.fullmatch(given.strip())
        if phases and (found := self._in_phases(phases[1])):
            yield given, [name for name in found if name != task.id]
        elif (left_out := _EXCEPT.fullmatch(given.strip())) and (most := self._all(left_out, task)):
            yield given, most
        else:
            yield from self._parts(_PLURAL.sub("", given), task)

    def _all(self, given: re.Match[str], task: PlanTask) -> list[str]:
        """The tasks of `everything above except 8`; none if either half names none."""
        most, fewer = (
            [name for _, names in self.find(half, task) for name in names]
            for half in given.groups()
        )
        return [name for name in most if name not in fewer] if fewer else []

    def above(self, task: PlanTask) -> list[str]:
        return self._listed[: self._places[task.id.rpartition("/")[2]]]

    def all_above(self, task: PlanTask) -> list[str]:
        """As `above`, within the bound for all dependencies that short words stand for."""
        return self._bounded(self.above(task), task)

    def _bounded(self, several: list[str], task: PlanTask) -> list[str]:
        self._several_left -= len(several)
        if self._several_left < 0:
            raise _too_many(task)
        return several

    def _in_phases(self, numbers: str) -> list[str]:
        """The tasks of `1 and 2` or `1-3`, as numbers of phases."""
        found: list[int] = []
        for first, last in re.findall(r"(\d+)(?:\s*(?:-|\u2013|\bto\b)\s*(\d+))?", numbers):
            found += [n for n in self._waves if int(first) <= n <= int(last or first)]
        return [name for number in found for name in self._waves[number]]

    def find_by_words(self, given: str, task: PlanTask) -> list[str]:
        """The earlier tasks whose titles have all telling words of the text."""
        if section := self.find_section(given, task):
            return section
        words = _telling_words(given)
        places = [self._words.get(word, []) for word in words]
        if not words or not min(map(len, places)):
            return []
        own = self._places[task.id]
        counts = [bisect_left(one, own) for one in places]
        rarest = counts.index(min(counts))
        likely = places[rarest][: counts[rarest]] if counts[rarest] <= MOST_LIKELY else []
        found = [at for at in likely if all(_holds(one, at) for one in places)]
        return [self._listed[at] for at in found]

    def find_section(self, given: str, task: PlanTask) -> list[str]:
        """The tasks below the heading that is named, other than the one it is named in."""
        match = _SECTION.fullmatch(normalize(given))
        found = self._sections.get(slug(match["name"]), []) if match else []
        return [] if task.id in found else self._bounded(found, task)

    def is_later(self, name: str, task: PlanTask) -> bool:
        return self._places[name] > self._places[task.id]

    def _parts(self, given: str, task: PlanTask) -> Iterator[tuple[str, list[str]]]:
        """The parts of a text, and the tasks that each means: the whole text is one name, or its
        parts are, or several parts together, because titles may contain commas."""
        if whole := self._one(given, task):
            yield given, [whole]
            return
        parts = split_references(given)
        while parts:
            is_list = all(self._one(part, task) for part in parts)
            ends = (1,) if is_list else range(len(parts), 0, -1)
            taken = next((n for n in ends if self._one(", ".join(parts[:n]), task)), 0)
            if taken:
                yield parts[0], [self._one(", ".join(parts[:taken]), task)]
            else:
                yield parts[0], self._bounded(self._several(parts[0], task), task)
            del parts[: taken or 1]

    def _several(self, wanted: str, task: PlanTask) -> list[str]:
        """The tasks meant by `2-5`, `2 and 3` or `all above`; none if it is something else."""
        name = normalize(wanted)
        if _ABOVE.fullmatch(name):
            return self.above(task)
        if _PREVIOUS.fullmatch(name):
            return self.above(task)[-1:]
        if ordinal := _ORDINAL.fullmatch(name):
            return self._listed[(at := _ORDINALS.index(ordinal[1].lower())) : at + 1]
        between = _BETWEEN.fullmatch(name)
        first, last = (self._one(one, task) for one in between.groups()) if between else ("", "")
        if first and last:
            return self._listed[self._places[first] : self._places[last] + 1]
        parts = _JOINED.split(name)
        if len(parts) == 1:
            return []
        found = [
            [one] if (one := self._one(part, task)) else self._several(part, task) for part in parts
        ]
        return list(chain(*found)) if all(found) else []

    def _one(self, wanted: str, task: PlanTask) -> str:
        """The id of the task that is meant; empty if there is none. A number is one of the task's
        own list, or else a place in the plan."""
        name = normalize(wanted)
        if name in self._ids:
            return name
        number = _NUMBER.fullmatch(name)
        known = self._titles.get(slug(name)) or self._labels.get(name.casefold().lstrip("#"))
        if known or not number:
            return known or ""
        at = int(number[1])
        if own := self._numbers.get(task.id, {}).get(at):
            return own
        return self._listed[at - 1] if 0 < at <= len(self._listed) else ""

    def _no_task(self, wanted: str, task: PlanTask) -> BadPlan:
        name = normalize(wanted)
        near = get_close_matches(slug(name), sorted(self._ids)[:MOST_NAMED], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        own = find_label(task.title) or task.id
        words = f"task {own!r} depends on {name!r}, which is no task{meant}"
        count = len(self._listed)
        how = f"name a task by its title, its id, or its number in the list (1 to {count:,})"
        several = "several as `2, 4`, `2-5` or `all above`"
        return BadPlan(words, task.place, f"{how}; {several}; none as `-`")

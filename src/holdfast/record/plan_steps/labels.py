"""Whether words name a step or a task: by its label, or by most of its subjects."""

import re
from functools import lru_cache

from holdfast.record.model import Task
from holdfast.record.plan_steps.wording import LATER
from holdfast.text.sentences import LIGHT, Lazy, plain, subjects

REMEMBERED = 240  # twice the steps that a record has
_LABEL = Lazy(
    r"\b[A-Z]{2,}-\d+\b|\b(?:phase|step|task|part|schritt|paso) ?#?\d+[a-z]?\b", re.IGNORECASE
)

_CONDITION = Lazy(r"^(?:once|when|as soon as|after|sobald|wenn|cuando|quand)\b[^,]*, ", re.I)
_DESCRIBED = Lazy(r"[;:]| (?:that|which|who|whose)\b|, (?:der|die|das|den|que|qui)\b", re.I)


def labels_in(text: str) -> set[str]:
    return {one.lower() for one in _LABEL.pattern.findall(text)}


@lru_cache(REMEMBERED)
def label_of(step: str) -> str | None:
    """Return `TASK-7` or `Phase 3` if a step begins with one; later labels name what it waits
    for."""
    label = _LABEL.pattern.search(step[:40])
    return label[0].lower() if label else None


def names_step(about: set[str], step: Task) -> bool:
    """Whether a text about these subjects is about the step: they include most of its own."""
    of_step = subjects_of(step.text)
    return bool(of_step) and len(of_step & about) * 3 >= 2 * len(of_step)


def names_core(about: set[str], step: Task) -> bool:
    """Whether a sentence has every subject of what the user wants later. A report of it repeats
    neither the condition ("When the table works, …") nor what describes its object ("… the hours
    that the gauge missed; mind the clock"). One word is no name."""
    core = _core_of(step.text) if step.source == LATER else frozenset[str]()
    return len(core) > 1 and core <= about


@lru_cache(REMEMBERED)
def _core_of(step: str) -> frozenset[str]:
    wanted = _CONDITION.pattern.sub("", step, count=1)
    return subjects_of(_DESCRIBED.pattern.split(wanted, maxsplit=1)[0])


def is_titled(about: set[str], step: str) -> bool:
    """Whether a ticked line repeats only the title of a step: "Try it on old tables: run it against
    …". One word is no title."""
    title, colon, _ = step.partition(": ")
    of_title = subjects_of(title) if colon else frozenset()
    return len(of_title) > 1 and len(of_title & about) * 3 >= 2 * len(of_title)


def is_called(words: str, task: str) -> bool:
    """Whether words name a task, by its label if both have one, or by most of its subjects."""
    label, other = label_of(words), label_of(task)
    if label and other:
        return label == other
    of_task = subjects_of(task)
    return bool(of_task) and len(of_task & subjects_of(words)) * 3 >= 2 * len(of_task)


def is_same(task: str, step: str) -> bool:
    """Whether a task of a list and a step of a plan are the same: one of them names the other.
    Lists use few words, but a single word is no name."""
    return is_called(task, step) or (len(subjects_of(task)) > 1 and is_called(step, task))


@lru_cache(REMEMBERED)
def subjects_of(step: str) -> frozenset[str]:
    return frozenset(subjects(plain(step)) - LIGHT)

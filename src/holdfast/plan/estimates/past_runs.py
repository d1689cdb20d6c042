"""Tasks that `holdfast run` has run: what they took, and how far off their estimates were.

The same task tells most; other tasks of this project tell a little each. `WORTH` and `SAME` come
from 909 real requests (decision 0038): the error of an estimate persists within a stretch of work
(best weighted against a dozen requests), and for requests alike in every number by half.

The tasks are read from the prompt of the session in its transcript: `run.prompt` writes it and
`record.run_prompt` knows its shape. A prompt of that shape that a user types counts as well; only
numbers are taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from holdfast.plan.estimates.features import WordFeatures
from holdfast.record.run_prompt import STANDS_BELOW, STEP_OF, split_tasks
from holdfast.text.numbers import counted

WORTH = 12.0  # the uncorrected estimate counts as much as this many run tasks
SAME = 12.0  # the same task counts as much as this many others

_AGAIN = "A session before you began this same work"
_PART = re.compile(r" \(part \d+ of \d+\)$")
# Sessions of earlier versions were told `a, b and 3 more` and `src/** (25 in all)`.
_FILES = re.compile(
    r"^Files: (.+?)(?: and ([\d,]+) more)?"
    r"(?: \(([\d,]+) (?:in all|files?(?: and ([\d,]+) folders?)?)\))?"
    r"(?: \(the other files of .*)?$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RunTask:
    """A task that was run. `files` is the number that the plan listed. Tasks with all numbers equal
    count as the same."""

    words: WordFeatures
    files: int | None
    growth_tokens: int


@dataclass(frozen=True, slots=True)
class EstimateError:
    """The error of a task's estimate: the logarithm of actual by estimated tokens."""

    ran: RunTask
    by: float


def measure_error(ran: RunTask, estimated_tokens: int, least_tokens: int) -> EstimateError:
    """Compare with an estimate. Values below `least_tokens` count as equal to it."""
    grown, estimated = (max(one, least_tokens) for one in (ran.growth_tokens, estimated_tokens))
    return EstimateError(ran, log(grown / estimated))


def correct_estimate(
    words: WordFeatures, files: int | None, past: Sequence[EstimateError]
) -> float:
    """The correction to add to the logarithm of an estimate."""
    weights = [SAME if is_same(one.ran, words, files) else 1.0 for one in past]
    pulled = sum(weight * one.by for weight, one in zip(weights, past, strict=True))
    return pulled / (WORTH + sum(weights))


def is_same(ran: RunTask, words: WordFeatures, files: int | None) -> bool:
    return (ran.words, ran.files) == (words, files)


def describe_runs(words: WordFeatures, files: int | None, past: Sequence[EstimateError]) -> str:
    """The run tasks in words, for an estimate's basis."""
    same = sum(is_same(one.ran, words, files) for one in past)
    run = f"{counted(len(past), 'task')} run here"
    return f"{run}, {same} just like it" if same else run


_SECTION = re.compile(rf"\A\n*{re.escape(STANDS_BELOW)} .*")


@dataclass(frozen=True, slots=True)
class PromptTask:
    """One task in a prompt: its words, and how many files it lists; None if it lists none."""

    words: str
    files: int | None


def parse_tasks(prompt: str) -> list[PromptTask]:
    """The tasks in the prompt of a run. None if another session had started the same work, because
    the rest of a task says nothing about the whole."""
    head, tasks = split_tasks(prompt)
    if _AGAIN in head:
        return []
    return [_prompt_task(title, body) for title, body in tasks]


def _prompt_task(title: str, body: str) -> PromptTask:
    body = body.partition(f"\n{STEP_OF} ")[0]  # text about the whole task is not this step's
    body = _SECTION.sub("", body)
    listed = _FILES.search(body)
    words = _PART.sub("", title)
    described = _without_steps(body[: listed.start()] if listed else body)
    return PromptTask(f"{words}\n{described}" if described else words, _count(listed))


def _without_steps(body: str) -> str:
    lines = body.strip("\n").split("\n")
    while lines and lines[-1].startswith("- "):
        lines.pop()
    return "\n".join(lines).strip("\n")


def _count(listed: re.Match[str] | None) -> int | None:
    if listed is None:
        return None
    if listed[3]:
        return _number(listed[3]) + _number(listed[4] or "0")
    return listed[1].count(", ") + 1 + _number(listed[2] or "0")


def _number(digits: str) -> int:
    return int(digits.replace(",", "") or "0")

"""What tasks of plans really took when they were run: how far off estimates were, and so will be.

The very same task tells most; others of this project tell a little each. `WORTH` and `SAME` come
from 909 real requests (decision 0038): how far an estimate was off goes on within a stretch of work
(best held back by a dozen requests), and among those alike in every number by half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from holdfast.plan.estimates.features import Words
from holdfast.text.numbers import counted

WORTH = 12.0  # the estimate without them counts as much as so many run tasks
SAME = 12.0  # the same task counts as much as so many others


@dataclass(frozen=True, slots=True)
class Ran:
    """`files`: as many as the plan listed. What is alike in every number is the same task."""

    words: Words
    files: int | None
    growth_tokens: int


@dataclass(frozen=True, slots=True)
class Missed:
    """How far off the estimate of a task was, by ratio, in logarithms."""

    ran: Ran
    by: float


def missed(ran: Ran, estimated_tokens: int, least_tokens: int) -> Missed:
    """`least_tokens`: whatever took less is alike."""
    grown, told = (max(one, least_tokens) for one in (ran.growth_tokens, estimated_tokens))
    return Missed(ran, log(grown / told))


def correction(words: Words, files: int | None, past: Sequence[Missed]) -> float:
    """What to add to an estimate's logarithm."""
    weights = [SAME if is_same(one.ran, words, files) else 1.0 for one in past]
    pulled = sum(weight * one.by for weight, one in zip(weights, past, strict=True))
    return pulled / (WORTH + sum(weights))


def is_same(ran: Ran, words: Words, files: int | None) -> bool:
    return (ran.words, ran.files) == (words, files)


def told(words: Words, files: int | None, past: Sequence[Missed]) -> str:
    """For an estimate's basis."""
    same = sum(is_same(one.ran, words, files) for one in past)
    run = f"{counted(len(past), 'task')} run here"
    return f"{run}, {same} just like it" if same else run

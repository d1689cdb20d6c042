"""How alike two requests are, by the little that is known of one before it is done.

A distance is a weighted sum of plain differences. What is not known of the one that is asked for
(a task in a plan has no place in a session yet) is left out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Final

from holdfast.plan.estimates.features import UNSTATED_FILES, Words
from holdfast.plan.estimates.past_requests import Used

LEAST_GROWTH = 500  # tokens: whatever took less is alike
MOST_LOG_CHARS = 9.0
MOST_LOG_LINES = 3.0
OTHER_PROJECT = 2.0  # as far as two spreads of a feature
TOUCHED = 4.0

# One over the spread of each feature in 2,084 requests of 285 public sessions; twice that for the
# length, the formula, the lines, the place in the session and plan mode, which tell most.
# Printed by `python -m benchmarks.estimates --corpus DIR --fit`.
WEIGHTS: Final = {
    "chars": 1.22,
    "formula": 3.71,
    "lines": 2.20,
    "question": 2.07,
    "asks": 2.39,
    "saves": 2.55,
    "builds": 2.67,
    "checks": 2.13,
    "position": 1.92,
    "planning": 13.47,
    "earlier": 0.94,
}

YES_NO = frozenset(("question", "asks", "saves", "builds", "checks", "planning"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of work not yet done; None is not known."""

    words: Words
    files: int | None = None  # how many it will touch
    folders: int = (
        0  # how many it names beside them; how many of their files it needs, nobody knows
    )
    position: int | None = None
    planning: bool | None = None
    earlier_tokens: int | None = None


def features(words: Words) -> dict[str, float]:
    """Of the words alone."""
    return {
        "chars": min(log(1 + words.chars), MOST_LOG_CHARS),
        "formula": log(max(1, words.formula_tokens())),
        "lines": min(log(words.lines), MOST_LOG_LINES),
        "question": float(words.question),
        "asks": float(words.asks),
        "saves": float(words.saves),
        "builds": float(words.builds),
        "checks": float(words.checks),
    }


def of_used(used: Used) -> dict[str, float]:
    found = features(used.words)
    found["position"] = log(1 + used.position)
    found["planning"] = float(used.planning)
    found["earlier"] = _earlier(used.earlier_tokens)
    found["touched"] = _touched(used.touched)
    return found


def of_asked(asked: Asked) -> dict[str, float]:
    """Only what is known."""
    found = features(asked.words)
    if asked.position is not None:
        found["position"] = log(1 + asked.position)
    if asked.planning is not None:
        found["planning"] = float(asked.planning)
    if asked.earlier_tokens is not None:
        found["earlier"] = _earlier(asked.earlier_tokens)
    if asked.files is not None:
        found["touched"] = _touched(asked.files)
    return found


def weighted(known: dict[str, float], names: tuple[str, ...]) -> tuple[float, ...]:
    """These features, each as much as it tells."""
    return tuple(known[name] * WEIGHTS.get(name, TOUCHED) for name in names)


def growth(tokens: int) -> float:
    """Growth as it is compared: by ratio."""
    return log(max(tokens, LEAST_GROWTH))


def of_folders(files: int) -> dict[str, float]:
    """Of a task that names folders, and so many files beside them; with none, three."""
    return {"named": _touched(files or UNSTATED_FILES)}


UNKNOWN_EARLIER = 7000  # tokens: about the median request
TALK = 0.3  # of a file: what a request takes that touches none (1,500 tokens, a file 5,400)


def _earlier(tokens: int) -> float:
    return growth(tokens or UNKNOWN_EARLIER)


def _touched(files: int) -> float:
    """Growth goes with the number of files, from the first on: by ratio, as growth is."""
    return log(TALK + files)

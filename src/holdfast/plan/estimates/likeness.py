"""How alike two requests are by what is known before they are done, and the nearest past requests.

A distance is a weighted sum of plain differences. Values that are unknown for the new request are
left out: a task in a plan, for example, has no position in a session yet.

A long plan asks for the nearest requests ten thousand times. So past requests are sorted into a few
piles by their yes-or-no features (does it ask, build, commit; was it in this project), each with a
least distance, and within a pile by the feature that tells most. Most are then never measured.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from operator import sub
from typing import Final

from holdfast.plan.estimates.features import UNSTATED_FILES, WordFeatures
from holdfast.plan.estimates.past_requests import PastRequest

LEAST_GROWTH = 500  # tokens: requests that took less count as alike
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
MAIN = "formula"  # by which a pile is sorted
Values = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """What is known about work that is not done yet; None means unknown."""

    words: WordFeatures
    files: int | None = None  # how many it will touch
    folders: int = 0  # how many it names besides; how many of their files it needs is unknown
    named: int = 0  # files in its words, if it is not known how many it will touch
    position: int | None = None
    planning: bool | None = None
    earlier_tokens: int | None = None


def list_features(words: WordFeatures) -> dict[str, float]:
    """Return the features that come from the words alone."""
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


def describe_past(used: PastRequest) -> dict[str, float]:
    found = list_features(used.words)
    found["position"] = log(1 + used.position)
    found["planning"] = float(used.planning)
    found["earlier"] = _earlier(used.earlier_tokens)
    found["touched"] = _touched(used.touched)
    found["named_files"] = log(max(1, count_named(used)))
    return found


def count_named(used: PastRequest) -> int:
    """How many of the files it touched a past request named, at most: the words are not kept."""
    return min(used.words.files, used.touched)


def describe_request(asked: EstimateRequest) -> dict[str, float]:
    """Return the features that are known."""
    found = list_features(asked.words)
    if asked.position is not None:
        found["position"] = log(1 + asked.position)
    if asked.planning is not None:
        found["planning"] = float(asked.planning)
    if asked.earlier_tokens is not None:
        found["earlier"] = _earlier(asked.earlier_tokens)
    if asked.files is not None:
        found["touched"] = _touched(asked.files)
    if asked.named:
        found["named_files"] = log(asked.named)
    return found


def weight_features(known: dict[str, float], names: tuple[str, ...]) -> tuple[float, ...]:
    """Weight each feature by how much it tells."""
    return tuple(known[name] * WEIGHTS.get(name, TOUCHED) for name in names)


def log_growth(tokens: int) -> float:
    """Return the logarithm of a growth: growth is compared by ratio."""
    return log(max(tokens, LEAST_GROWTH))


def describe_folders(files: int) -> dict[str, float]:
    """Return the features of a task that names folders and this many files beside them. Up to three
    files count as none, because the folder is read too."""
    return {"named": _touched(max(files, UNSTATED_FILES))}


UNKNOWN_EARLIER = 7000  # tokens: about the median request
TALK = 0.3  # of a file: what a request takes that touches none (1,500 tokens, a file 5,400)


def _earlier(tokens: int) -> float:
    return log_growth(tokens or UNKNOWN_EARLIER)


def _touched(files: int) -> float:
    """The logarithm of the number of files, because growth is compared by ratio."""
    return log(TALK + files)


@dataclass(frozen=True, slots=True)
class _Pile:
    """Requests with equal yes-or-no features, as columns, sorted by the first of them."""

    sides: Values
    far: float
    columns: list[list[float]]
    places: list[int]

    def measured(self, asked: Values, least: float, reach: float) -> list[tuple[float, int]]:
        """Return the distance of each request that may be near enough; column by column, in loops
        of C."""
        low = bisect_left(self.columns[0], asked[0] - reach)
        high = bisect_right(self.columns[0], asked[0] + reach)
        found = [least] * (high - low)
        for value, column in zip(asked, self.columns, strict=True):
            found = [
                far + abs(one - value) for far, one in zip(found, column[low:high], strict=True)
            ]
        return list(zip(found, self.places[low:high], strict=True))


class Nearest:
    """`rows` are weighted features, in the order of `names`; `far` is added to each distance."""

    def __init__(self, rows: Sequence[Values], far: Sequence[float], names: Sequence[str]) -> None:
        self._sides = [at for at, name in enumerate(names) if name in YES_NO]
        rest = [at for at, name in enumerate(names) if name not in YES_NO]
        self._rest = sorted(rest, key=lambda at: names[at] != MAIN)
        piles: defaultdict[tuple[Values, float], list[tuple[Values, int]]] = defaultdict(list)
        for at, row in enumerate(rows):
            piles[_of(row, self._sides), far[at]].append((_of(row, self._rest), at))
        self._piles = [_pile(*key, sorted(pile)) for key, pile in piles.items()]

    def to(self, asked: Values, count: int) -> list[int]:
        """Return the positions of the nearest ones, nearest first; of equal ones, the first."""
        sides, rest = _of(asked, self._sides), _of(asked, self._rest)
        piles = sorted(
            (sum(map(abs, map(sub, sides, one.sides))) + one.far, at)
            for at, one in enumerate(self._piles)
        )
        best: list[tuple[float, int]] = []
        worst = inf
        for least, at in piles:
            if least > worst:
                break
            found = self._piles[at].measured(rest, least, worst - least)
            best = sorted(best + found)[:count]
            worst = best[-1][0] if len(best) == count else inf
        return [at for _, at in best]


def _pile(sides: Values, far: float, rows: Sequence[tuple[Values, int]]) -> _Pile:
    columns = [list(column) for column in zip(*(values for values, _ in rows), strict=True)]
    return _Pile(sides, far, columns, [at for _, at in rows])


def _of(row: Values, places: Sequence[int]) -> Values:
    return tuple([row[at] for at in places])

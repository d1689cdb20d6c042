"""The past requests nearest to one that is asked for, without measuring them all.

A long plan asks ten thousand times. What is said by yes or no alone (does it ask, build, commit;
was it in this project) puts requests into few piles, each as far away as that much, at least;
within one they lie sorted by what tells most. So most are out of reach before they are looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from operator import sub

from holdfast.plan.estimates import likeness

MAIN = "formula"  # by which a pile is sorted
Values = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Pile:
    """Requests alike in what is said by yes or no, as columns, sorted by the first of them."""

    sides: Values
    far: float
    columns: list[list[float]]
    places: list[int]

    def measured(self, asked: Values, least: float, reach: float) -> list[tuple[float, int]]:
        """How far away each is that may be within reach; column by column, in loops of C."""
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
        self._sides = [at for at, name in enumerate(names) if name in likeness.YES_NO]
        rest = [at for at, name in enumerate(names) if name not in likeness.YES_NO]
        self._rest = sorted(rest, key=lambda at: names[at] != MAIN)
        piles: defaultdict[tuple[Values, float], list[tuple[Values, int]]] = defaultdict(list)
        for at, row in enumerate(rows):
            piles[_of(row, self._sides), far[at]].append((_of(row, self._rest), at))
        self._piles = [_pile(*key, sorted(pile)) for key, pile in piles.items()]

    def to(self, asked: Values, count: int) -> list[int]:
        """Positions of so many, the nearest first; of equals, the first."""
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

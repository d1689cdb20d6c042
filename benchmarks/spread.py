"""One row from the same row of several runs: the middle of each number, and how far they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from benchmarks.run import Row
from benchmarks.targets import NUMBER, value


class Spread(NamedTuple):
    name: str
    middle: str
    spread: str  # empty where every run gave the same
    wanted: str


def merge_rows(runs: Sequence[Sequence[Row]]) -> list[Spread]:
    """Rows with the same words are the same row, whatever the numbers in their names."""
    rows: dict[tuple[str, int], list[Row]] = {}
    for run in runs:
        seen: Counter[str] = Counter()
        for row in run:
            shape = _shape(row[0])
            rows.setdefault((shape, seen[shape]), []).append(row)
            seen[shape] += 1
    return [_merged(same) for same in rows.values()]


def _merged(same: list[Row]) -> Spread:
    names, figures = [row[0] for row in same], [row[1] for row in same]
    middle, spread = merge_texts(figures)
    return Spread(merge_texts(names)[0], middle, spread, same[0][2])


def merge_texts(texts: Sequence[str]) -> tuple[str, str]:
    """The text with the median of each number, and with the range of each.

    Where the words differ (a run was not measured), all texts are listed instead.
    """
    if len({_shape(text) for text in texts}) > 1:
        different = list(dict.fromkeys(texts))
        return different[0], " / ".join(different)
    columns = list(zip(*(NUMBER.findall(text) for text in texts), strict=True))
    middle = _filled(texts[0], [_middle(column) for column in columns])
    return middle, "" if len(set(texts)) == 1 else _filled(texts[0], [*map(_range, columns)])


def _shape(text: str) -> str:
    return NUMBER.sub("#", text)


def _filled(text: str, numbers: Sequence[str]) -> str:
    remaining = iter(numbers)
    return NUMBER.sub(lambda _: next(remaining), text)


def _middle(column: Sequence[str]) -> str:
    middle = median_low(map(value, column))
    return next(one for one in column if value(one) == middle)


def _range(column: Sequence[str]) -> str:
    low, high = min(column, key=value), max(column, key=value)
    return low if value(low) == value(high) else f"{low} to {high}"

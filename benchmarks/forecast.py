"""How often the steps left until a compaction lie in the range that is shown, and how wide it is.

    python -m benchmarks.forecast CORPUS

Every step of every window is a forecast, once there are enough steps. Two kinds of truth: the
automatic compaction that ended the window, and levels that the window reached later (60, 80 and
97 % of its highest): a hundred compactions alone are few. The two numbers that widen the range were
fitted, so they are fitted again with each repository (folder of CORPUS) left out, and judged on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.readings import transcripts
from holdfast.settings import load as settings_load
from holdfast.transcript.reader import read
from holdfast.transcript.steps import operations
from holdfast.window import velocity
from holdfast.window.replay import Point, Replay, Replayer

LEVELS = (0.60, 0.80, 0.97)
MISSED = 0.125  # at each end, when fitting: the point forecast then widens some ranges
NEAR = 0.30  # of the limit left: where people begin to look


@dataclass(frozen=True, slots=True)
class Case:
    """One forecast and what came of it."""

    repository: str
    room_tokens: int
    limit_tokens: int
    growth: float
    ops_left: int
    low: int
    high: int
    truth: int

    @property
    def is_inside(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def width(self) -> float:
        """How many times the low end the high end is; both counted from one."""
        return (self.high + 1) / (self.low + 1)


def measure(corpus: Path) -> dict[str, Any]:
    compactions: list[Case] = []
    levels: list[Case] = []
    for path in transcripts(corpus):
        replay = Replayer(settings_load.load(environ={})).feed(operations(read(path)))
        for window, limit in _windows(replay):
            if limit:
                compactions += _cases(path.parent.name, window, limit, len(window) - 1)
            levels += _until_levels(path.parent.name, window)
    near = [one for one in compactions if one.room_tokens < NEAR * one.limit_tokens]
    return {
        "until the compaction": _judged(compactions),
        "of these with 30 % or less left": _judged(near),
        "until a level reached later": _judged(levels),
        "each repository left out": _left_out(compactions + levels, compactions),
        "the point forecast alone, within 25 %": _share(compactions, _is_point_near),
    }


def _windows(replay: Replay) -> Iterator[tuple[list[Point], int]]:
    """Each window's steps, and the limit at which it was compacted; 0 where it was not, or by the
    user, or far from the limit."""
    begin = 0
    for hit in replay.compactions:
        window, begin = replay.points[begin : hit.index + 1], hit.index + 1
        is_told = hit.trigger == "auto" and hit.read_tokens > 0.9 * hit.edge_tokens
        yield window, hit.edge_tokens if is_told else 0
    yield replay.points[begin:], 0


def _until_levels(repository: str, window: list[Point]) -> Iterator[Case]:
    highest = max((point.used_tokens for point in window), default=0)
    for share in LEVELS:
        limit = int(share * highest)
        end = next((at for at, one in enumerate(window) if one.used_tokens >= limit), 0)
        yield from list(_cases(repository, window, limit, end))[:-1]  # the last one has arrived


def _cases(repository: str, window: list[Point], limit: int, end: int) -> Iterator[Case]:
    totals = [point.total_tokens for point in window]
    for at in range(velocity.FEWEST, end + 1):
        now = window[at].used_tokens
        if now >= limit and at < end:
            continue
        seen = velocity.forecast(totals[: at + 1], [], now, limit)
        if seen.ops_left is None or seen.ops_left_low is None or seen.ops_left_high is None:
            continue
        yield Case(
            repository,
            max(0, limit - now),
            limit,
            seen.growth or 1.0,
            seen.ops_left,
            seen.ops_left_low,
            seen.ops_left_high,
            end - at,
        )


def _judged(cases: list[Case]) -> dict[str, float]:
    if not cases:
        return {"forecasts": 0}
    widths = sorted(one.width for one in cases)
    return {
        "forecasts": len(cases),
        "inside": _share(cases, lambda one: one.is_inside),
        "sooner": _share(cases, lambda one: one.truth < one.low),
        "later": _share(cases, lambda one: one.truth > one.high),
        "width, median": round(widths[len(widths) // 2], 2),
        "width, p90": round(widths[int(len(widths) * 0.9)], 2),
    }


def _left_out(fitted_on: list[Case], judged: list[Case]) -> dict[str, float]:
    """The range with its ends fitted on all other repositories."""
    found: list[Case] = []
    for name in sorted({one.repository for one in judged}):
        low, high = _fitted([one for one in fitted_on if one.repository != name])
        found += [_again(one, low, high) for one in judged if one.repository == name]
    return _judged(found)


def _fitted(cases: list[Case]) -> tuple[float, float]:
    off = sorted((one.truth + 1) / (one.room_tokens / one.growth + 1) for one in cases)
    return off[int(len(off) * MISSED)], off[math.ceil(len(off) * (1 - MISSED)) - 1]


def _again(one: Case, low: float, high: float) -> Case:
    _, fewest, most = velocity.steps_left(one.room_tokens, one.growth, (low, high))
    return Case(
        one.repository,
        one.room_tokens,
        one.limit_tokens,
        one.growth,
        one.ops_left,
        fewest or 0,
        most or 0,
        one.truth,
    )


def _is_point_near(one: Case) -> bool:
    return abs(one.ops_left - one.truth) <= 0.25 * max(1, one.truth)


def _share(cases: list[Case], fact: Callable[[Case], bool]) -> float:
    return round(sum(map(fact, cases)) / len(cases), 3) if cases else 0.0


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(measure(Path(sys.argv[1])), indent=1))

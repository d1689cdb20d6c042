"""Velocity and forecast: tokens per step, and how long the window still lasts.

Velocity follows the last three steps, so that a climb is seen at once. As a forecast that is poor:
the truth is off by a factor of three either way in a fifth of the cases. So the steps left are a
range, from the last twenty steps and what steps usually take; see docs/decisions/0075.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

SAMPLES = 3
FEWEST = 2  # one step is an anecdote; from two on there is something to forecast from
STEADY_SAMPLES = 20
LARGEST_GROWTH = 8_000  # one huge read says little about the steps to come
USUAL_GROWTH, USUAL_STEPS = 800, 20  # tokens; as if so many usual steps had been seen as well
MANY_STEPS = 50  # so many are far away: their number would not be acted on
WIDEST = 6  # high to low
RANGE = (0.55, 1.65)  # the truth lies between these multiples of the mean forecast 4 times in 5


class Forecast(NamedTuple):
    """None means unknown: nothing is guessed. `ops_left` is for the pace of the last three steps,
    and lies in the range."""

    velocity_tokens_per_op: float | None
    ops_left: int | None
    minutes_left: float | None
    basis: str
    pace_ms: float | None = None
    ops_left_low: int | None = None
    ops_left_high: int | None = None
    growth: float | None = None  # tokens per step over a longer time; see `steady_growth`


def growths(used_tokens: Sequence[int]) -> list[int]:
    """What each step added, oldest first."""
    return [after - before for before, after in pairwise(used_tokens)]


def velocity(used_tokens: Sequence[int], now_tokens: int) -> float | None:
    """Mean growth of the last three steps; the one in flight counts once it is larger.

    `used_tokens` holds one number per finished answer; `now_tokens` is the reading of the moment.
    """
    steps = growths(used_tokens[-SAMPLES - 1 :])
    if len(steps) < FEWEST:
        return None
    in_flight = now_tokens - used_tokens[-1]
    finished = mean(steps)
    return max(finished, mean([*steps[1:], in_flight])) if len(steps) == SAMPLES else finished


def mean(numbers: Sequence[float]) -> float:
    """`statistics` would cost a woken hook 15 ms for this."""
    return sum(numbers) / len(numbers)


def steady_growth(used_tokens: Sequence[int]) -> float:
    """Tokens per step to be expected: of the last twenty steps, drawn towards the usual."""
    steps = growths(used_tokens[-STEADY_SAMPLES - 1 :])
    seen = sum(min(max(0, step), LARGEST_GROWTH) for step in steps)
    return (seen + USUAL_STEPS * USUAL_GROWTH) / (len(steps) + USUAL_STEPS)


def steps_range(
    room_tokens: int, growth: float, ops_left: int, ends: tuple[float, float] = RANGE
) -> tuple[int, int]:
    """The fewest and the most steps left, four times in five; `ops_left` is among them."""
    expected = max(0, room_tokens) / growth + 1
    low, high = int(max(0.0, ends[0] * expected - 1)), int(max(0.0, ends[1] * expected - 1)) + 1
    return min(low, ops_left), max(high, ops_left)


def steps_left(
    room_tokens: int, rate: float, growth: float
) -> tuple[int | None, int | None, int | None]:
    """Steps left at this rate, with the fewest and the most; None where they are not known."""
    if rate <= 0:
        return None, None, None
    ops = int(max(0, room_tokens) / rate)
    return (ops, *steps_range(room_tokens, growth, ops)) if growth > 0 else (ops, None, None)


def in_words(low: int | None, high: int | None, pace_ms: float | None = None) -> str:
    """The steps left as one number, and the minutes they take; empty where nothing is known, or
    where the range is so wide that a number would say nothing."""
    steps = shown_steps(low, high)
    if steps is None:
        return ""
    if steps < 1:
        return "less than one step"
    if low is not None and low >= MANY_STEPS:
        return f"more than {MANY_STEPS} steps"
    words = f"about {_plain(steps)} step{'' if steps == 1 else 's'}"
    return f"{words}, {_duration(steps * pace_ms)}" if pace_ms else words


def shown_steps(low: int | None, high: int | None) -> int | None:
    """Return the one number that stands for a range: as far from both ends. None if it is unknown
    or too wide for one; from `MANY_STEPS` on, all are alike."""
    if low is None or high is None or high > WIDEST * low + WIDEST:
        return None
    if high < 1:
        return 0
    return MANY_STEPS + 1 if low >= MANY_STEPS else max(1, round((max(low, 0.5) * high) ** 0.5))


def _duration(ms: float) -> str:
    minutes = int(ms / 60_000)
    if minutes < 1:
        return "under a minute"
    return f"{_plain(minutes)} min" if minutes < 90 else f"{minutes / 60:.0f} h"


def _plain(steps: int) -> str:
    """No more digits than an estimate has."""
    digit = 1 if steps < 30 else 5 if steps < 100 else 10 if steps < 1000 else 100
    return f"{round(steps / digit) * digit:,}"


def forecast(
    used_tokens: Sequence[int], times_ms: Sequence[int], now_tokens: int, edge_tokens: int
) -> Forecast:
    """Steps and minutes until the compaction limit, with what they rest on."""
    rate = velocity(used_tokens, now_tokens)
    if rate is None:
        more = max(1, FEWEST - max(0, len(used_tokens) - 1))
        steps = "1 more step" if more == 1 else f"{more} more steps"
        return Forecast(None, None, None, f"unknown yet: it needs {steps}")
    count = min(SAMPLES, len(used_tokens) - 1)
    if rate <= 0:
        return Forecast(rate, None, None, f"unknown: the last {count} steps added nothing")
    room = max(0, edge_tokens - now_tokens)
    growth = steady_growth(used_tokens)
    ops, low, high = steps_left(room, rate, growth)
    pace_ms = _pace(times_ms)
    basis = f"the last {count} steps took {rate:,.0f} tokens each"
    if pace_ms is None:
        return Forecast(rate, ops, None, basis + ", pace unknown", None, low, high, growth)
    minutes = round(room / rate * pace_ms / 60_000, 1)
    basis += f", one in {_seconds(pace_ms)}"
    return Forecast(rate, ops, minutes, basis, pace_ms, low, high, growth)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.0f} s" if ms >= 1000 else "under 1 s"


def _pace(times_ms: Sequence[int]) -> float | None:
    """Median time between steps: one lunch break must not stretch the forecast."""
    gaps = sorted(gap for gap in growths(times_ms[-SAMPLES - 1 :]) if gap > 0)
    return gaps[len(gaps) // 2] if len(gaps) >= FEWEST else None

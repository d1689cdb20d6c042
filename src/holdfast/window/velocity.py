"""Velocity and forecast: tokens per step, and how long the window still lasts.

Velocity follows the last three steps, so that a climb is seen at once. As a forecast that is poor:
the truth is off by a factor of three either way in a fifth of the cases. So the steps left, and
their range, come from the last twenty steps and what steps usually take; see docs/decisions/0075.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

SAMPLES = 3
FEWEST = 2  # one step is an anecdote; from two on there is something to forecast from
STEADY_SAMPLES = 20
LARGEST_GROWTH = 8_000  # one huge read says little about the steps to come
USUAL_GROWTH, USUAL_STEPS = 800, 20  # tokens; as if so many usual steps had been seen as well
RANGE = (0.55, 1.65)  # the truth lies between these multiples of the mean forecast 3 times in 4


class Forecast(NamedTuple):
    """None means unknown: nothing is guessed. `ops_left` is the room divided by `growth`."""

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


def steps_left(
    room_tokens: int, growth: float, ends: tuple[float, float] = RANGE
) -> tuple[int | None, int | None, int | None]:
    """Steps left at this growth, with the fewest and the most; None where it is not known."""
    if growth <= 0:
        return None, None, None
    expected = max(0, room_tokens) / growth + 1
    low, high = (int(max(0.0, end * expected - 1)) for end in ends)
    return int(expected - 1), low, high + 1


def in_words(steps: int | None, pace_ms: float | None = None) -> str:
    """The steps left, and the minutes they take; empty where they are not known."""
    if steps is None:
        return ""
    if steps < 1:
        return "less than one step"
    words = f"about {_plain(steps)} step{'' if steps == 1 else 's'}"
    return f"{words}, {_duration(steps * pace_ms)}" if pace_ms else words


def _duration(ms: float) -> str:
    minutes = int(ms / 60_000)
    if minutes < 1:
        return "under a minute"
    return f"{_plain(minutes)} min" if minutes < 90 else f"{minutes / 60:.0f} h"


def _plain(steps: int) -> str:
    """Two digits: an estimate has no more."""
    return f"{int(float(f'{steps:.2g}')):,}"


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
    growth = steady_growth(used_tokens)
    ops, low, high = steps_left(edge_tokens - now_tokens, growth)
    pace_ms = _pace(times_ms)
    basis = f"{growth:,.0f} tokens per step expected; the last {count} added {rate:,.0f} each"
    minutes = round(ops * pace_ms / 60_000, 1) if pace_ms and ops is not None else None
    basis += f", {_seconds(pace_ms)} apart" if pace_ms else ""
    return Forecast(rate, ops, minutes, basis, pace_ms, low, high, growth)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.0f} s" if ms >= 1000 else "under 1 s"


def _pace(times_ms: Sequence[int]) -> float | None:
    """Median time between steps: one lunch break must not stretch the forecast."""
    gaps = sorted(gap for gap in growths(times_ms[-SAMPLES - 1 :]) if gap > 0)
    return gaps[len(gaps) // 2] if len(gaps) >= FEWEST else None

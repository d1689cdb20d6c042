"""Velocity and forecast: tokens per operation, and how long the window still lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SAMPLES = 3
FEWEST = 2  # one step is an anecdote; from two on there is something to forecast from


@dataclass(frozen=True, slots=True)
class Forecast:
    """None means unknown: nothing is guessed."""

    velocity_tokens_per_op: float | None
    ops_left: int | None
    minutes_left: float | None
    basis: str
    pace_ms: float | None = None


def growths(used_tokens: Sequence[int]) -> list[int]:
    """What each operation added, oldest first."""
    return [after - before for before, after in pairwise(used_tokens)]


def velocity(used_tokens: Sequence[int], now_tokens: int) -> float | None:
    """Mean growth of the last three operations; the one in flight counts once it is larger.

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


def forecast(
    used_tokens: Sequence[int], times_ms: Sequence[int], now_tokens: int, edge_tokens: int
) -> Forecast:
    """Operations and minutes until the edge, with what they rest on."""
    rate = velocity(used_tokens, now_tokens)
    if rate is None:
        seen = max(0, len(used_tokens) - 1)
        return Forecast(None, None, None, f"unknown: {seen} of {FEWEST} operations measured")
    count = min(SAMPLES, len(used_tokens) - 1)
    if rate <= 0:
        return Forecast(rate, None, None, f"unknown: the last {count} operations added nothing")
    room = max(0, edge_tokens - now_tokens)
    ops = int(room / rate)
    pace_ms = _pace(times_ms)
    basis = f"mean of the last {count} operations, {rate:,.0f} tokens each"
    if pace_ms is None:
        return Forecast(rate, ops, None, basis + ", pace unknown")
    minutes = round(room / rate * pace_ms / 60_000, 1)
    return Forecast(rate, ops, minutes, basis + f", one in {_seconds(pace_ms)}", pace_ms)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.0f} s" if ms >= 1000 else "under 1 s"


def _pace(times_ms: Sequence[int]) -> float | None:
    """Median time between operations: one lunch break must not stretch the forecast."""
    gaps = sorted(gap for gap in growths(times_ms[-SAMPLES - 1 :]) if gap > 0)
    return gaps[len(gaps) // 2] if len(gaps) >= FEWEST else None

"""Counts and sizes as a person is told them.

An estimate whose range spans a factor of eight or more has no more than two digits that mean
something; programs get them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.redact import redact
from holdfast.wire.inert import inert

DIGITS = 2
SMALL_TOKENS = 2000  # a hundredth of the smallest window: less is as good as nothing
STEP_CHARS = 60  # of the title of the task a step is of


Progress = Callable[[str, int, int], None]  # what is done, how far, of how many


def silent(what: str, done: int, total: int) -> None:
    """For whoever wants no progress."""


def about(tokens: int) -> str:
    """`17,386` is `17,000`."""
    step = max(1, 10 ** (len(str(abs(tokens))) - DIGITS))
    return f"{(tokens + step // 2) // step * step:,}"


def span(low: int, high: int) -> str:
    """Empty where there is none; a lower end of next to nothing is not worth a number."""
    if low == high:
        return ""
    return f"{about(low)} to {about(high)}" if low >= SMALL_TOKENS else f"up to {about(high)}"


def counted(count: int, noun: str) -> str:
    """`1 batch`, `2 batches`."""
    many = "es" if noun.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{count:,} {noun}{'' if count == 1 else many}"


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def short(text: str, most: int) -> str:
    """Seen to be cut, where it is."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def named(text: str) -> str:
    """Anyone's words, on one line, without secrets."""
    return inert(redact(text))


def step_of(title: str) -> str:
    return f'a step of "{short(named(title), STEP_CHARS)}"'


def nothing_left(done: int) -> str:
    return f"nothing left to do: {counted(done, 'task')} done"

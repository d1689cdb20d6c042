"""How far a command is, on stderr, once it has taken a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER_SECONDS = 1.0
EVERY_SECONDS = 0.2  # on a terminal, where a line is written over
EVERY_SECONDS_ELSEWHERE = 5.0
CLEAR = "\r\x1b[K"


@contextmanager
def ticker(
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[str, int, int], None]]:
    """A function to be told what is done, how far, and of how many."""
    on_terminal = sys.stderr.isatty()
    every = EVERY_SECONDS if on_terminal else EVERY_SECONDS_ELSEWHERE
    next_at = clock() + AFTER_SECONDS
    shown = False

    def tick(what: str, done: int, total: int) -> None:
        nonlocal next_at, shown
        if clock() < next_at:
            return
        next_at, shown = clock() + every, True
        words = f"  {what}: {done:,} of {total:,}"
        print(
            f"{CLEAR}{words}" if on_terminal else words,
            end="" if on_terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    try:
        yield tick
    finally:
        if shown and on_terminal:
            print(CLEAR, end="", file=sys.stderr, flush=True)

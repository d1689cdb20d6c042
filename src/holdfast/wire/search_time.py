"""How much time one hook may use to search texts for secrets.

Searching takes 0.2 to 2 s per megabyte, 7 s for a text that is made to be slow to search, and the
client kills a hook at its limit: then no checkpoint is saved. When the time is used up, texts that
were not searched are neither stored nor shown.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Found = TypeVar("Found")

# A text this short is searched in any case: it takes less than a millisecond.
ALWAYS_CHARS = 64
# Of the time, for texts that are read for the first time. What is kept of them is searched again
# in the record and the checkpoint.
READING_SHARE = 0.3
# As much again, for the user's newest words if there was no time to read everything.
NEWEST_SHARE = 0.2
# For a text of ours that is shown at the end, such as a brief: it is short.
OUTPUT_SECONDS = 1.0


class SearchTimeUsedUp(Exception):
    """The time is used up, and the text was not searched to its end."""


class SearchTime:
    """The time that is left, and until when the current search may go on."""

    __slots__ = ("_before", "_clock", "_seconds", "_until", "is_used_up", "left")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.left = self._seconds = seconds
        self._clock = clock
        self._until: float | None = None
        self.is_used_up = False  # a text could not be searched
        self._before: SearchTime | None = None

    def __enter__(self) -> SearchTime:
        """Limit all searches until the exit."""
        global _limit
        self._before, _limit = _limit, self
        return self

    def __exit__(self, *_: object) -> None:
        global _limit
        _limit = self._before

    def search(self, search: Callable[[str], Found], text: str) -> Found:
        if self.left <= 0:
            self.is_used_up = True
            raise SearchTimeUsedUp
        began = self._clock()
        self._until = began + self.left
        try:
            return search(text)
        finally:
            self._until = None
            self.left -= self._clock() - began

    def check(self) -> None:
        if self._until is not None and self._clock() > self._until:
            self.is_used_up = True
            raise SearchTimeUsedUp

    def may_read(self) -> bool:
        return self._seconds - self.left < self._seconds * READING_SHARE

    def for_newest(self) -> SearchTime:
        return SearchTime(self._seconds * NEWEST_SHARE, self._clock)


_limit: SearchTime | None = None


def run_search(search: Callable[[str], Found], text: str) -> Found:
    """Search a text, and count the time. Raises SearchTimeUsedUp if that was not possible."""
    if _limit is None or len(text) <= ALWAYS_CHARS:
        return search(text)
    return _limit.search(search, text)


def check() -> None:
    """Raise SearchTimeUsedUp if the current search takes too long."""
    if _limit is not None:
        _limit.check()


def is_used_up() -> bool:
    """Whether some text could not be searched: a placeholder stands for it."""
    return _limit is not None and _limit.is_used_up


def for_output() -> SearchTime:
    """Time of its own for a short text that is shown: without it nothing would be."""
    return SearchTime(OUTPUT_SECONDS)


def may_read() -> bool:
    """Whether there is time to search more texts of a transcript."""
    return _limit is None or _limit.may_read()


def for_newest() -> SearchTime:
    """Time of its own for the user's newest words: after everything else none would be left."""
    return _limit.for_newest() if _limit is not None else SearchTime(OUTPUT_SECONDS)

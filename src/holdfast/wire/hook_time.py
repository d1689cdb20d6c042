"""How much time one hook may use to search texts for secrets, and when it has to come to its end.

Searching takes 0.2 to 2 s per megabyte, 7 s for a text that is made to be slow to search, and the
client kills a hook at its limit: then no checkpoint is saved. When the time is used up, texts that
were not searched are neither stored nor shown. Reading stops and work that can be left out is left
out by the clock, because other work takes long too in a session of many megabytes.
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
# By the clock, in terms of the time for searching: after this much a hook reads no further. It is
# less than half of what the client gives it.
READING_END = 1.0
# After this much it begins nothing that it can leave out.
LATE = 1.2
# For a text of ours that is shown at the end, such as a brief: it is short.
OUTPUT_SECONDS = 1.0


class HookTimeUsedUp(Exception):
    """The time is used up, and the text was not searched to its end."""


class HookTime:
    """The time that is left, and until when the current search may go on."""

    __slots__ = ("_before", "_began", "_clock", "_seconds", "_until", "is_used_up", "left")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.left = self._seconds = seconds
        self._clock = clock
        self._began = clock()
        self._until: float | None = None
        self.is_used_up = False  # a text could not be searched
        self._before: HookTime | None = None

    def __enter__(self) -> HookTime:
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
            raise HookTimeUsedUp
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
            raise HookTimeUsedUp

    def may_read(self) -> bool:
        searched = self._seconds - self.left
        return searched < self._seconds * READING_SHARE and self._has_run_less_than(READING_END)

    def is_late(self) -> bool:
        return not self._has_run_less_than(LATE)

    def _has_run_less_than(self, share: float) -> bool:
        return self._clock() - self._began < self._seconds * share

    def for_newest(self) -> HookTime:
        return HookTime(self._seconds * NEWEST_SHARE, self._clock)


_limit: HookTime | None = None


def run_search(search: Callable[[str], Found], text: str) -> Found:
    """Search a text, and count the time. Raises HookTimeUsedUp if that was not possible."""
    if _limit is None or len(text) <= ALWAYS_CHARS:
        return search(text)
    return _limit.search(search, text)


def check() -> None:
    """Raise HookTimeUsedUp if the current search takes too long."""
    if _limit is not None:
        _limit.check()


def is_used_up() -> bool:
    """Whether some text could not be searched: a placeholder stands for it."""
    return _limit is not None and _limit.is_used_up


def for_output() -> HookTime:
    """Time of its own for a short text that is shown: without it nothing would be."""
    return HookTime(OUTPUT_SECONDS)


def may_read() -> bool:
    """Whether there is time to read on in a transcript, and to search its texts."""
    return _limit is None or _limit.may_read()


def is_late() -> bool:
    """Whether a hook has to leave out what it can: the client would kill it."""
    return _limit is not None and _limit.is_late()


def for_newest() -> HookTime:
    """Time of its own for the user's newest words: after everything else none would be left."""
    return _limit.for_newest() if _limit is not None else HookTime(OUTPUT_SECONDS)

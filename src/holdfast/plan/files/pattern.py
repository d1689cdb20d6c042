"""Names of files by pattern: `*`, `?` and `[…]` within a folder, `**` over any number of them.

A plan is anyone's: every name takes time in proportion to the pattern, whatever that is.
"""

from __future__ import annotations

import fnmatch
import re
from itertools import takewhile
from posixpath import normpath

MARKS = frozenset("*?[")
ANY = "**"


class Pattern:
    """`folder`: all that fits lies there."""

    def __init__(self, text: str) -> None:
        words = normpath(text).split("/")
        plain = takewhile(lambda word: not MARKS.intersection(word), words[:-1])
        self.folder = "/".join(plain) or "."
        self._parts = [
            None if part == ANY else re.compile(fnmatch.translate(part)) for part in words
        ]

    def fits(self, name: str) -> bool:
        """All ways to go through the pattern at once: how many of its parts each has used up."""
        last = self._parts[-1]
        if last is not None and not last.match(name.rpartition("/")[2]):
            return False  # most names of a large project
        at = self._and_past({0})
        for part in name.split("/"):
            at = self._and_past({after for one in at for after in self._after(one, part)})
        return len(self._parts) in at

    def _after(self, at: int, name: str) -> tuple[int, ...]:
        if at == len(self._parts):
            return ()
        part = self._parts[at]
        if part is None:
            return (at,)
        return (at + 1,) if part.match(name) else ()

    def _and_past(self, at: set[int]) -> set[int]:
        """`**` stands for nothing too."""
        found = set(at)
        for one in at:
            while one < len(self._parts) and self._parts[one] is None:
                one += 1
                found.add(one)
        return found

"""Names of files by pattern: `*`, `?` and `[…]` within a folder, `**` over any number of them.

A plan is anyone's: every name takes time in proportion to the pattern, whatever that is.
"""

from __future__ import annotations

import fnmatch
import re
from posixpath import normpath

MARKS = frozenset("*?[")
ANY = "**"


class Pattern:
    def __init__(self, text: str) -> None:
        self._parts = [
            None if part == ANY else re.compile(fnmatch.translate(part))
            for part in normpath(text).split("/")
        ]

    def fits(self, name: str) -> bool:
        """All ways to go through the pattern at once: how many of its parts each has used up."""
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

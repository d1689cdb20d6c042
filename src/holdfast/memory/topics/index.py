"""MEMORY.md as lines: ours are put in, changed and taken out, and no other byte moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.memory.topics.errors import IndexFull

NAME = "MEMORY.md"
MOST_LINES, MOST_BYTES = 200, 25_000  # what the client loads of it
_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(<?(?:\./)?([^)<>]+?)>?\)")


@dataclass(frozen=True, slots=True)
class Index:
    """Lines with their ends, as bytes would have them; text that is no UTF-8 is kept as it is."""

    lines: tuple[str, ...]

    @classmethod
    def of(cls, data: bytes) -> Index:
        text = data.decode("utf-8", "surrogateescape")
        return cls(tuple(re.findall(r"[^\n]*\n|[^\n]+", text)))

    def data(self) -> bytes:
        return "".join(self.lines).encode("utf-8", "surrogateescape")

    def fits(self) -> bool:
        return len(self.lines) <= MOST_LINES and len(self.data()) <= MOST_BYTES

    def files(self) -> list[str]:
        """The files its pointers name, in order."""
        return [found[1] for line in self.lines if (found := _POINTER.match(line))]

    def line_of(self, file: str) -> str | None:
        """The text of the pointer to this file."""
        at = self._at(file)
        return None if at is None else self.lines[at].rstrip("\r\n")

    def put(self, file: str, text: str) -> Index:
        """In its old place, or behind all others."""
        at = self._at(file)
        if at is None:
            return self._added(text)
        line = self.lines[at]
        changed = text + line[len(line.rstrip("\r\n")) :]
        return Index((*self.lines[:at], changed, *self.lines[at + 1 :]))

    def without(self, file: str) -> Index:
        at = self._at(file)
        if at is None:
            return self
        lines = [*self.lines[:at], *self.lines[at + 1 :]]
        if lines and at == len(lines) and not self.lines[at].endswith("\n"):
            end = self._end() if at > 1 else "\n"  # a lone line had no end to go by
            lines[-1] = lines[-1].removesuffix(end)  # as it was before our line came
        return Index(tuple(lines))

    def _at(self, file: str) -> int | None:
        for at, line in enumerate(self.lines):
            found = _POINTER.match(line)
            if found and found[1] == file:
                return at
        return None

    def _added(self, text: str) -> Index:
        """A last line without an end stays without one: theirs is the same once ours is gone."""
        end = self._end()
        if self.lines and not self.lines[-1].endswith("\n"):
            return Index((*self.lines[:-1], self.lines[-1] + end, text))
        return Index((*self.lines, text + end))

    def _end(self) -> str:
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"


def made_to_fit(
    index: Index, least_used: Sequence[str], file: str, pointer: str
) -> tuple[Index, list[str]]:
    """Where it is too long, lines of ours leave it, the least used first, and the one line that
    stands for them comes in; nothing of anyone else is ever moved."""
    if index.fits():
        return index, []
    shorter = index.put(file, pointer)
    for count, name in enumerate(least_used, start=1):
        shorter = shorter.without(name)
        if shorter.fits():
            return shorter, list(least_used[:count])
    raise IndexFull(
        f"{NAME} holds {len(index.lines)} lines and {len(index.data()):,} bytes, "
        "and ours among them make too little room"
    )

"""One source: a file or a group of files that is indexed together, and long texts in pieces.

A search finds a paragraph better than a chapter, and an embedder reads about 250 tokens at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.memory.index.interface import POSITIONS, Span
from holdfast.memory.item import Item

HOW = 4  # one more when other things are taken of the same lines: then they are read again
MOST_CHARS = 1_200
MOST_PIECES = 24
_CUTS = ("\n\n", "\n", ". ", " ")


class SourceRead(NamedTuple):
    """Items from position `start` on, and the state that was reached."""

    items: Sequence[Item]
    state: str
    start: int = 0
    done: bool = True  # False: there is more to read

    @property
    def span(self) -> Span:
        """What was read is all there is from `start` on, or up to the last that was read."""
        if self.done:
            return self.start, POSITIONS
        return self.start, max((one.position + 1 for one in self.items), default=self.start)


class MemorySource(NamedTuple):
    """`read` goes on from a state of its own making (empty: from the beginning), and past a moment
    of the monotonic clock no further than it must to have come on."""

    key: str
    stamp: str
    read: Callable[[str, float], SourceRead]


def stamped(stamp: str, state: str = "") -> str:
    """How a source's state is noted: which change of it, and how far it was read."""
    return f"{stamp}\n{state}"


def parted(noted: str) -> tuple[str, str]:
    stamp, _, state = noted.partition("\n")
    return stamp, state


def clean(text: str) -> str:
    """Without what no index holds: NUL, and halves of characters."""
    text = text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pieces(text: str, most: int = MOST_CHARS) -> list[str]:
    """Cut where a paragraph, a line, a sentence or at least a word ends; the end of a very long one
    is left out."""
    found: list[str] = []
    text = text.strip()
    while len(text) > most and len(found) < MOST_PIECES - 1:
        at = _cut(text, most)
        found.append(text[:at].strip())
        text = text[at:].strip()
    return [*found, text[:most]] if text else found


def _cut(text: str, most: int) -> int:
    for mark in _CUTS:
        at = text.rfind(mark, most // 3, most)
        if at >= 0:
            return at + len(mark)
    return most

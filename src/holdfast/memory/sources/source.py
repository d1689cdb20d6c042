"""One source: a file or a group of files that is indexed together, and long texts in pieces.

A search finds a paragraph better than a chapter, and an embedder reads about 250 tokens at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.memory.index.interface import POSITIONS, Span
from holdfast.memory.item import Item

HOW = 5  # increase it when other parts of lines are indexed: they are then read again
MOST_CHARS = 1_200
MOST_PIECES = 24
_CUTS = ("\n\n", "\n", ". ", " ")


class SourceRead(NamedTuple):
    """The items from position `start` on, and the state after reading."""

    items: Sequence[Item]
    state: str
    start: int = 0
    done: bool = True  # False: there is more to read

    @property
    def span(self) -> Span:
        """The positions that were read: all from `start` on, or up to the last item."""
        if self.done:
            return self.start, POSITIONS
        return self.start, max((one.position + 1 for one in self.items), default=self.start)


class MemorySource(NamedTuple):
    """One source. `read` continues from a state that it returned before (empty: from the
    start). After the given time of the monotonic clock it reads only as much as it needs to
    make progress."""

    key: str
    stamp: str
    read: Callable[[str, float], SourceRead]


def join_state(stamp: str, state: str = "") -> str:
    """Join the stamp of a source and how far it was read, for storing."""
    return f"{stamp}\n{state}"


def split_state(noted: str) -> tuple[str, str]:
    stamp, _, state = noted.partition("\n")
    return stamp, state


def clean(text: str) -> str:
    """Remove what an index cannot store: NUL, and lone surrogates."""
    text = text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pieces(text: str, most: int = MOST_CHARS) -> list[str]:
    """Cut a text at the end of a paragraph, a line, a sentence or at least a word. The end of a
    very long text is left out."""
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

"""One source: a file or a group of files that is taken in together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.memory.index.interface import POSITIONS, Span
from holdfast.memory.item import Item

HOW = 3  # one more when other things are taken of the same lines: then they are read again


class Read(NamedTuple):
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


class Source(NamedTuple):
    """`read` goes on from a state of its own making (empty: from the beginning), and past a moment
    of the monotonic clock no further than it must to have come on."""

    key: str
    stamp: str
    read: Callable[[str, float], Read]


def stamped(stamp: str, state: str = "") -> str:
    """How a source's state is noted: which change of it, and how far it was read."""
    return f"{stamp}\n{state}"


def parted(noted: str) -> tuple[str, str]:
    stamp, _, state = noted.partition("\n")
    return stamp, state

"""One thing that can be found again: its words, and the way back to where they were said."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.files.digest import digest

MEMORY, CHECKPOINT, SEGMENT = "memory", "checkpoint", "segment"
DECISION, MESSAGE, TURN = "decision", "message", "turn"
KINDS = (MEMORY, CHECKPOINT, SEGMENT, DECISION, MESSAGE, TURN)
ID_CHARS = 12
PAGE_CHARS = 5_000  # of a text that is printed whole


class Item(NamedTuple):
    """`position` counts within its source: what stands at the next one is its neighbour."""

    id: str
    kind: str
    text: str
    position: int = 0
    title: str = ""
    more: str = ""  # what belongs to it and counts less: commands, heads of results
    by: str = ""  # user, model, or an agent's name
    cold: bool = False
    session: str = ""
    agent: str = ""
    file: str = ""
    first_turn: int = 0  # 0: not of a turn
    last_turn: int = 0
    uuids: tuple[str, ...] = ()  # of the transcript's lines
    at: str = ""
    offset: int = 0  # the byte of the transcript at which it begins

    @property
    def hash(self) -> str:
        """The same words have the same hash, wherever they stand."""
        return digest(f"{self.title}\0{self.text}\0{self.more}".encode("utf-8", "replace"))[:16]


def id_of(kind: str, *parts: str) -> str:
    """The same thing has the same id whenever it is taken in."""
    return f"{kind}-{digest(chr(0).join(parts).encode('utf-8', 'replace'))[:ID_CHARS]}"

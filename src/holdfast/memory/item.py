"""One thing that a search can find: its words, and where they were said."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.files.digest import digest
from holdfast.wire import places

MEMORY, CHECKPOINT, SEGMENT = "memory", "checkpoint", "segment"
DECISION, MESSAGE, TURN = "decision", "message", "turn"
KINDS = (MEMORY, CHECKPOINT, SEGMENT, DECISION, MESSAGE, TURN)
FOREIGN = places.FOREIGN
ID_CHARS = 12
PAGE_CHARS = 5_000  # of a text that is printed in full


class Item(NamedTuple):
    """One item. `position` counts within its source, so the next position is its neighbour."""

    id: str
    kind: str
    text: str
    position: int = 0
    title: str = ""
    more: str = ""  # belongs to it but counts less: commands, heads of results
    by: str = ""  # user, model, an agent's name, or FOREIGN
    cold: bool = False
    session: str = ""
    agent: str = ""
    file: str = ""
    first_turn: int = 0  # 0: it belongs to no turn
    last_turn: int = 0
    uuids: tuple[str, ...] = ()  # of lines in the transcript
    at: str = ""
    offset: int = 0  # the byte offset in the transcript

    @property
    def origin(self) -> str:
        """Where a reader gets it from, in words."""
        return self.by if self.by == FOREIGN else self.file or "saved by Holdfast"

    @property
    def hash(self) -> str:
        """A hash of the words, the same wherever they occur."""
        return digest(f"{self.title}\0{self.text}\0{self.more}".encode("utf-8", "replace"))[:16]


def id_of(kind: str, *parts: str) -> str:
    """Return an id that stays the same whenever the item is read again."""
    return f"{kind}-{digest(chr(0).join(parts).encode('utf-8', 'replace'))[:ID_CHARS]}"

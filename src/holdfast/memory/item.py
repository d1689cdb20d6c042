"""What a search can find, and where it is read from.

An entry is a whole: a turn of a session (what was asked, and what the model did and said), a
checkpoint, a compressed segment, a decision, a message, a topic of Claude Code's memory.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.files.folders import digest
from holdfast.wire import places

MEMORY, CHECKPOINT, SEGMENT = "memory", "checkpoint", "segment"
DECISION, MESSAGE, TURN = "decision", "message", "turn"
KINDS = (MEMORY, CHECKPOINT, SEGMENT, DECISION, MESSAGE, TURN)
FOREIGN = places.FOREIGN
ID_CHARS = 12
PAGE_CHARS = 5_000  # of a text that is printed in full
HOW = 7  # increase it when other parts of sources are indexed: they are then read again
POSITIONS = 1 << 32
LONGEST_TEXT = 60_000
PIECE_CHARS, MOST_PIECES = 1_200, 64
SAYING = "\x1e"  # before each saying in the text of a turn
_CUTS = ("\n\n", "\n", ". ", " ")
Span = tuple[int, int]
ALL: Span = (0, POSITIONS)


class Item(NamedTuple):
    """One entry. `position` counts within its source."""

    id: str
    kind: str
    text: str
    position: int = 0
    title: str = ""
    more: str = ""  # belongs to it but counts less: commands, heads of results
    by: str = ""  # the type of a topic, the sender of a message, or FOREIGN
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
        words = f"{self.title}\0{self.text}\0{self.more}"
        return digest(words.encode("utf-8", "replace"))[:16]

    @property
    def sayings(self) -> list[str]:
        """What was said in a turn, in order: what was asked comes first, the answer last."""
        return [one.strip() for one in self.text.split(SAYING) if one.strip()]


class SourceRead(NamedTuple):
    """The entries from position `start` on, and the state after reading."""

    items: Sequence[Item]
    state: str
    start: int = 0
    done: bool = True  # False: there is more to read

    @property
    def span(self) -> Span:
        """The positions that were read: all from `start` on, or up to the last entry."""
        last = max((item.position + 1 for item in self.items), default=self.start)
        return self.start, POSITIONS if self.done else last


class MemorySource(NamedTuple):
    """A file or a group of files that is indexed together. Its stamp changes with it. `read`
    continues from a state that it returned before (empty: from the start). After the given time of
    the monotonic clock it reads only as much as it needs to make progress."""

    key: str
    stamp: str
    read: Callable[[str, float], SourceRead]


def id_of(kind: str, *parts: str) -> str:
    """Return an id that stays the same whenever the entry is read again."""
    return f"{kind}-{digest(chr(0).join(parts).encode('utf-8', 'replace'))[:ID_CHARS]}"


def clean(text: str) -> str:
    """Remove what an index cannot store: NUL, and lone surrogates."""
    text = text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pieces_of(item: Item) -> list[str]:
    """Return the pieces of an entry that get a vector each, with the title if it is no turn."""
    is_turn = item.kind == TURN
    whole = item.text.replace(SAYING, "") if is_turn else f"{item.title}\n{item.text}"
    return pieces(whole) or [item.title]


def pieces(text: str) -> list[str]:
    """Cut a text at the end of a paragraph, a line, a sentence or at least a word: an embedder
    reads about 250 tokens. The end of a very long text is left out."""
    found: list[str] = []
    start, end = 0, min(len(text.rstrip()), PIECE_CHARS * MOST_PIECES)
    while start < end and len(found) < MOST_PIECES:
        stop = end if end - start <= PIECE_CHARS else _cut(text, start, start + PIECE_CHARS)
        found += filter(None, [text[start:stop].strip()])
        start = stop
    return found


def _cut(text: str, start: int, end: int) -> int:
    for mark in _CUTS:
        at = text.rfind(mark, start + (end - start) // 3, end)
        if at >= 0:
            return at + len(mark)
    return end

"""One thing a brief may say: what it is worth, and where it comes from."""

import msgspec

from holdfast.record.model import Place

NOWHERE = Place()
Archived = tuple[str, str, list[str]]  # a segment on the shelf: its id, topic and main files
STILL_RUNNING = "still running"  # why a subagent or a background command is told of
MOST_ARCHIVED = 6  # the newest: the summariser hears of no others, and the brief names each
EDITED = "*"  # behind a file, where there is no room to say so


class Item(msgspec.Struct, gc=False):
    """A line, or a word of one; worth is what the reader is likely to gain by it."""

    section: str
    text: str
    worth: float
    reason: str
    place: Place = NOWHERE
    pinned: bool = False
    under: str = ""  # the folder or file it is written under
    key: str = ""  # what others may be written under
    order: float = 0.0  # within its section
    compartment: str = ""  # of the budget, where it is not that of its section


class Claim(msgspec.Struct, frozen=True):
    """A sentence of the summary, and what speaks against it."""

    sentence: str
    evidence: str
    place: Place


def item_id(item: Item) -> str:
    """What it is called to be evicted; another text is another item."""
    from zlib import crc32  # only where somebody asks

    return f"{crc32(f'{item.section}|{item.text}'.encode('utf-8', 'replace')):08x}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def short(path: str) -> str:
    """Enough of a path to know it by."""
    return "/".join(path.split("/")[-2:])

"""One thing a brief may say: what it is worth, where it comes from; and how much fits."""

import os

import msgspec

from holdfast.record.model import Place
from holdfast.text.fence import both_ends
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_UNITS = 9_990  # the client takes 10,000 UTF-16 units per hook, and drops the rest to a file


def chars_for(max_tokens: int) -> int:
    return max(0, min(int(max_tokens * CHARS_PER_TOKEN), MOST_UNITS))


NOWHERE = Place()
Archived = tuple[str, str, list[str]]  # a segment on the shelf: its id, topic and main files
LAST_FAILED = "its last run failed"  # why a command is told of with what it said
STILL_RUNNING = "still running"  # why a subagent or a background command is told of
MOST_ARCHIVED = 6  # the newest: the summariser hears of no others, and the brief names each
EDITED = "*"  # behind a file, where there is no room to say so


class BriefItem(msgspec.Struct, gc=False):
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
    begins: str = ""  # what stands before `whole`
    whole: str = ""  # what the text was cut from: more of it is told where there is room


class FalseClaim(msgspec.Struct, frozen=True):
    """A sentence of the summary, and what speaks against it."""

    sentence: str
    evidence: str
    place: Place


def find_archived(session_id: str, agent_id: str) -> list[Archived]:
    """The compressed topics of a session; a subagent has none. Most machines have none either."""
    if agent_id or not os.path.exists(f"{places.home()}/segments"):  # noqa: PTH110
        return []
    from holdfast.segment import archived_topics

    return archived_topics.archived(session_id)


def item_id(item: BriefItem) -> str:
    """What it is called to be evicted; another text is another item."""
    from zlib import crc32  # only where somebody asks

    return f"{crc32(f'{item.section}|{item.text}'.encode('utf-8', 'replace')):08x}"


def quoted(begins: str, whole: str, most: int) -> str:
    """Words in quotes; of longer ones head and end."""
    return f"{begins}“{both_ends(whole, most)}”"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def short(path: str) -> str:
    """Enough of a path to know it by."""
    return "/".join(path.split("/")[-2:])

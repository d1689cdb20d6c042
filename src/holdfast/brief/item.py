"""One thing that a brief may say: its worth and its origin; and how much fits."""

import os

import msgspec

from holdfast.record.model import Place
from holdfast.text.fence import both_ends, quoted
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_UNITS = 9_990  # the client takes 10,000 UTF-16 units per hook, and drops the rest to a file
FIRST_UNITS = MOST_UNITS - 500  # the first hook may add an alarm
LIMIT_SHARE = 0.03  # of the compaction limit, for the brief of a hook
MOST_BRIEF_UNITS = FIRST_UNITS + MOST_UNITS - 700  # the second has a head and a heading of its own
OUTPUT_TOKENS = int(MOST_BRIEF_UNITS / CHARS_PER_TOKEN)  # that these hooks may print together


def hook_tokens(project: str, limit_tokens: int) -> int:
    """Return how long the brief of a hook may be: what the user set, else a share of the compaction
    limit. Loading settings takes as long as 1.6 interpreter starts, and a compaction waits for us:
    if nothing is set, they are not loaded."""
    named = "HOLDFAST_BRIEF_TOKENS" in os.environ
    if named or b"brief_tokens" in places.read_small(f"{places.home()}/settings.toml"):
        from holdfast.settings import load

        return min(load.load(project).whole("brief_tokens"), OUTPUT_TOKENS)
    return min(int(limit_tokens * LIMIT_SHARE), OUTPUT_TOKENS) if limit_tokens else OUTPUT_TOKENS


def chars_for(max_tokens: int) -> int:
    return max(0, min(int(max_tokens * CHARS_PER_TOKEN), MOST_BRIEF_UNITS))


NOWHERE = Place()
Archived = tuple[str, str, list[str]]  # a segment on the shelf: its id, topic and main files
LAST_FAILED = "its last run failed"  # the reason for a command with its output
STILL_RUNNING = "still running"  # the reason for a subagent or a background command
MOST_ARCHIVED = 6  # the newest: the summariser hears of no others, and the brief names each
EDITED = "*"  # marks an edited file if there is no room for words


class BriefItem(msgspec.Struct, gc=False):
    """A line, or a word of one. `worth` is what the reader is likely to gain from it."""

    section: str
    text: str
    worth: float
    reason: str
    place: Place = NOWHERE
    pinned: bool = False
    under: str = ""  # the folder or file it is written under
    key: str = ""  # under which others may be written
    order: float = 0.0  # within its section
    compartment: str = ""  # of the budget, if not that of its section
    begins: str = ""  # precedes `whole`
    whole: str = ""  # the full text, of which more is shown if there is room
    is_spare: bool = False  # shown only in room that nothing else needs


def find_archived(session_id: str, agent_id: str) -> list[Archived]:
    """Return the compressed topics of a session. A subagent has none, and most machines have
    none."""
    if agent_id or not os.path.exists(f"{places.home()}/segments"):  # noqa: PTH110
        return []
    from holdfast.segment import library

    return library.list_archived(session_id)


def item_id(item: BriefItem) -> str:
    """Return the id with which an item can be evicted. Another text is another item."""
    from zlib import crc32  # seldom needed

    return f"{crc32(f'{item.section}|{item.text}'.encode('utf-8', 'replace')):08x}"


def quote_ends(begins: str, whole: str, most: int) -> str:
    """Return words in quotes; only head and end if they are long."""
    return f"{begins}{quoted(both_ends(whole, most))}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

"""One thing that a brief may say: its worth and its origin. And which of them fit: pinned ones
first, then those with the most worth per character, each compartment within its allotment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from holdfast.budget.compartments import (
    ACTIVE,
    AMBIENT,
    BACKGROUND,
    PREFERENCES,
    SAFETY,
    Allotment,
    Wish,
    allot,
    units,
)
from holdfast.budget.compartments import compartments as divided
from holdfast.record.model import Place
from holdfast.text.fence import both_ends, quoted
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

if TYPE_CHECKING:
    from holdfast.brief.roles import Section

MOST_UNITS = 9_990  # the client takes 10,000 UTF-16 units per hook, and drops the rest to a file
FIRST_UNITS = MOST_UNITS - 500  # the first hook may add an alarm
LIMIT_SHARE = 0.03  # of the compaction limit, for the brief of a hook
MOST_BRIEF_UNITS = FIRST_UNITS + MOST_UNITS - 700  # the second has a head and a heading of its own
OUTPUT_TOKENS = int(MOST_BRIEF_UNITS / CHARS_PER_TOKEN)  # that these hooks may print together


def hook_tokens(project: str, limit_tokens: int) -> int:
    """Return how long the brief of a hook may be: what the user set, else a share of the compaction
    limit. A compaction waits for us, so settings are loaded only if one is set."""
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
_OF = {
    ACTIVE: "own flight decisions tasks plan failing unchecked agents questions waves blocked "
    "returned messages",
    BACKGROUND: "files",
    PREFERENCES: "said pinned unsure",
    SAFETY: "marked",
    AMBIENT: "commands about archived",
}
SECTION = {section: name for name, words in _OF.items() for section in words.split()}
NEVER_CUT = ("said", "own", "marked", "pinned", "unsure")
MOST_FIRST = 3  # items of a section that its role is for, before anything else
NEWS = ("agents",)  # new reports are the input of the next step
PER_LINE = 6  # what a line costs beside its words, with a share of the headings
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
    counts: int = 1  # things of which it is the only word


def find_archived(session_id: str, agent_id: str) -> list[Archived]:
    """Return the compressed topics of a session; a subagent has none."""
    if agent_id or not os.path.exists(f"{places.home()}/segments"):
        return []
    from holdfast.segment import library

    return library.list_archived(session_id)


def item_id(item: BriefItem) -> str:
    """Return the id with which an item can be evicted. Another text is another item."""
    from zlib import crc32  # seldom needed

    return f"{crc32(f'{item.section}|{item.text}'.encode('utf-8', 'replace')):08x}"


def quote_ends(begins: str, whole: str, most: int) -> str:
    return f"{begins}{quoted(both_ends(whole, most))}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def compartment_of(item: BriefItem) -> str:
    """Return the compartment of an item: a pin belongs where the user put it."""
    return item.compartment or SECTION.get(item.section, AMBIENT)


def compartment_weights(sections: Iterable[Section]) -> dict[str, float]:
    """Return the sum of the shares that a template gives each compartment."""
    weights: dict[str, float] = {}
    for section in sections:
        name = SECTION.get(section.name, AMBIENT)
        weights[name] = weights.get(name, 0.0) + section.share
    return weights


class Choice:
    """What has been taken so far, and the room that is left."""

    def __init__(self, sections: Sequence[Section], room: int) -> None:
        self.room = room
        self.taken: list[BriefItem] = []
        self.spent: dict[str, int] = {}  # by compartment
        self.allotment: Allotment | None = None
        self._sections = {section.name: section for section in sections}
        self._begun: set[str] = set()  # sections whose heading is paid for
        self._groups: set[str] = set()

    def cost(self, item: BriefItem) -> int:
        """Return its characters, with the heading and folder that are not paid for yet."""
        cost = units(item.text) + 3
        if item.section not in self._begun:
            cost += len(self._sections[item.section].heading) + 5
        if item.under and item.under not in self._groups:
            cost += units(item.under) + 5
        return cost

    def knows(self, item: BriefItem) -> bool:
        return item.section in self._sections

    def take_each(
        self, items: Iterable[BriefItem], within: Allotment | None = None
    ) -> list[BriefItem]:
        """Take what fits, in this order, and return the rest: no call for what is too long."""
        return [item for item in items if len(item.text) > self.room or not self.take(item, within)]

    def take(self, item: BriefItem, within: Allotment | None = None) -> bool:
        if not self.knows(item):
            return False
        name, length = compartment_of(item), len(item.text)  # the cost is at least the length
        granted = within.granted.get(name, 0) if within else self.room + self.spent.get(name, 0)
        room = min(self.room, granted - self.spent.get(name, 0))
        if length > room or (cost := self.cost(item)) > room:
            return False
        self._pay(name, cost)
        self._begun.add(item.section)
        self._groups |= {item.under, item.key}
        self.taken.append(item)
        return True

    def lengthen(self, sections: Sequence[str], room: int) -> None:
        """Show more of what was cut; what a short one does not need goes to longer ones."""
        cut = [item for item in self.taken if item.whole and item.section in sections]
        cut.sort(key=lambda item: len(item.whole))
        for number, item in enumerate(cut):
            most = units(item.text) - units(item.begins) + room // (len(cut) - number)
            text = quote_ends(item.begins, item.whole, most - 2)
            if (more := units(text) - units(item.text)) > 0:
                self.taken[self.taken.index(item)] = replace(item, text=text)
                self._pay(compartment_of(item), more)
                room -= more

    def _pay(self, name: str, cost: int) -> None:
        self.room -= cost
        self.spent[name] = self.spent.get(name, 0) + cost


def choose(
    items: Sequence[BriefItem],
    sections: Sequence[Section],
    room: int,
    shares: Mapping[str, float] | None = None,
) -> Choice:
    """Take pinned items; then the best of each compartment; then whatever still fits."""
    choice = Choice(sections, room)
    refused = [item for item in items if item.pinned and not choice.take(item)]
    if any(item.section in NEVER_CUT for item in refused if choice.knows(item)):
        return choice  # no lesser item takes room that these did not get
    candidates = [item for item in items if _competes(item) and choice.knows(item)]
    ranked = sorted(candidates, key=lambda item: -item.worth / (units(item.text) + PER_LINE))
    choice.lengthen(NEWS, choice.room // 2)
    five, wanted = divided(compartment_weights(sections), shares or {}), Counter(choice.spent)
    for item in candidates:
        wanted[compartment_of(item)] += units(item.text) + PER_LINE
    pinned = choice.spent
    wishes = {part.name: Wish(wanted[part.name], pinned.get(part.name, 0)) for part in five}
    choice.allotment = allot(room, five, wishes)
    choice.take_each(choice.take_each(ranked, choice.allotment))
    return choice


def put_first(items: Sequence[BriefItem], sections: Sequence[Section]) -> list[BriefItem]:
    """Pin the best items of what a role is for, its sections above `flight`, and put them before
    all that may be cut: the best of each section before the second of any."""
    names = [section.name for section in sections if section.name not in NEVER_CUT]
    leading = names[: names.index("flight")] if "flight" in names else []
    best = sorted(filter(_competes, items), key=lambda item: -item.worth)
    ranked = [[item for item in best if item.section == name][:MOST_FIRST] for name in leading]
    firsts = [item for row in zip_longest(*ranked) for item in row if item]
    arranged = [replace(item, pinned=True) for item in firsts]
    arranged += [item for item in items if item not in firsts]
    return sorted(arranged, key=lambda item: item.section not in NEVER_CUT)


def fill(choice: Choice, items: Sequence[BriefItem]) -> None:
    """Use the room left: for more of what was cut, then for spare items by worth."""
    choice.lengthen([*NEWS, "flight"], choice.room)
    choice.lengthen(["said"], choice.room)
    spare = [item for item in items if item.is_spare and choice.knows(item)]
    choice.take_each(sorted(spare, key=lambda item: -item.worth))


def _competes(item: BriefItem) -> bool:
    return not item.pinned and not item.is_spare and item.worth > 0

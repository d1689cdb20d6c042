"""Choose items within a budget: pinned ones first, then those with the most worth per character,
each compartment within its allotment."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.brief.item import BriefItem, quote_ends
from holdfast.brief.roles import Section
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

_OF = {
    ACTIVE: "own flight decisions tasks plan failing unchecked agents questions waves blocked "
    "returned messages",
    BACKGROUND: "files",
    PREFERENCES: "said pinned unsure",
    SAFETY: "marked",
    AMBIENT: "commands about archived",
}
SECTION = {section: name for name, words in _OF.items() for section in words.split()}


def of(item: BriefItem) -> str:
    """Return the compartment of an item: its own, if it names one, because a pin belongs where the
    user put it."""
    return item.compartment or SECTION.get(item.section, AMBIENT)


def weights(sections: Iterable[Section]) -> dict[str, float]:
    """Return the weight of each compartment: the sum of the shares that a role's template gives its
    sections."""
    found: dict[str, float] = {}
    for one in sections:
        name = SECTION.get(one.name, AMBIENT)
        found[name] = found.get(name, 0.0) + one.share
    return found


NEVER_CUT = ("said", "own", "marked", "pinned", "unsure")
NEWS = ("agents",)  # new reports are the input of the next step
PER_LINE = 6  # what a line costs beside its words, with a share of the headings


class Choice:
    """What has been taken so far, and the room that is left."""

    def __init__(self, sections: Sequence[Section], room: int) -> None:
        self.room = room
        self.taken: list[BriefItem] = []
        self.spent: dict[str, int] = {}  # by compartment
        self.allotment: Allotment | None = None
        self._sections = {one.name: one for one in sections}
        self._begun: set[str] = set()  # sections whose heading is paid for
        self._groups: set[str] = set()

    def cost(self, item: BriefItem) -> int:
        """Return its characters, with the heading and the line of its folder or file, if they are
        needed."""
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
        """Take what fits, in this order, and return the rest. Most items of a long list are longer
        than the room that is left; they are skipped without a call."""
        return [item for item in items if len(item.text) > self.room or not self.take(item, within)]

    def take(self, item: BriefItem, within: Allotment | None = None) -> bool:
        if not self.knows(item):
            return False
        name, length = of(item), len(item.text)  # the cost is at least the length
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
        """Show more of what was cut. The items share the room: what a short one does not need goes
        to the longer ones."""
        cut = [one for one in self.taken if one.whole and one.section in sections]
        cut.sort(key=lambda one: len(one.whole))
        for number, item in enumerate(cut):
            most = units(item.text) - units(item.begins) + room // (len(cut) - number)
            text = quote_ends(item.begins, item.whole, most - 2)
            if (more := units(text) - units(item.text)) > 0:
                self.taken[self.taken.index(item)] = replace(item, text=text)
                self._pay(of(item), more)
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
    """Take pinned items first; then the best of each compartment within its allotment; then
    whatever still fits. `shares` are set by the user."""
    choice = Choice(sections, room)
    refused = [one for one in items if one.pinned and not choice.take(one)]
    if any(one.section in NEVER_CUT for one in refused if choice.knows(one)):
        return choice  # no lesser item takes room that these did not get
    known = [one for one in items if _competes(one) and choice.knows(one)]
    ranked = sorted(known, key=lambda one: -one.worth / (units(one.text) + PER_LINE))
    choice.lengthen(NEWS, choice.room // 2)
    five, wanted = divided(weights(sections), shares or {}), Counter(choice.spent)
    for item in known:
        wanted[of(item)] += units(item.text) + PER_LINE
    pinned = choice.spent
    wishes = {one.name: Wish(wanted[one.name], pinned.get(one.name, 0)) for one in five}
    choice.allotment = allot(room, five, wishes)
    choice.take_each(choice.take_each(ranked, choice.allotment))
    return choice


def fill(choice: Choice, items: Sequence[BriefItem]) -> None:
    """Use the room that is left: for more of the texts that were cut, then for spare items, those
    of most worth first."""
    choice.lengthen([*NEWS, "flight"], choice.room)
    choice.lengthen(["said"], choice.room)
    spare = [one for one in items if one.is_spare and choice.knows(one)]
    choice.take_each(sorted(spare, key=lambda item: -item.worth))


def _competes(item: BriefItem) -> bool:
    return not item.pinned and not item.is_spare and item.worth > 0

"""Choosing under a budget: the most worth per character first, pinned things before all."""

from collections.abc import Sequence

from holdfast.brief.item import Item, short
from holdfast.brief.roles import Section
from holdfast.brief.size import units

NEVER_CUT = ("rules", "task")
LISTS = ("files", "names")
LISTS_SHARE = 0.5  # of the brief, as long as anything else is worth telling


class Choice:
    """What has been taken so far, and the room that is left."""

    def __init__(self, sections: Sequence[Section], room: int) -> None:
        self.room = room
        self.taken: list[Item] = []
        self.merged = 0  # commands that are told with their failure
        self._sections = {one.name: one for one in sections}
        self._spent = dict.fromkeys(self._sections, 0)
        self._groups: set[str] = set()
        self._failing: set[str] = set()

    def cost(self, item: Item) -> int:
        """Its characters, with the heading and the line of its folder or file it may need."""
        cost = units(item.text) + 3
        if not self._spent[item.section]:
            cost += len(self._sections[item.section].heading) + 5
        if item.under and item.under not in self._groups:
            cost += units(item.under if item.section == "files" else short(item.under)) + 5
        return cost

    def knows(self, item: Item) -> bool:
        return item.section in self._sections

    def take(self, item: Item, limit: float = 1e9) -> bool:
        if not self.knows(item):
            return False
        if item.section == "commands" and item.key in self._failing:
            self.merged += 1  # told already, with its error
            return True
        cost = self.cost(item)
        if cost > self.room or self._spent[item.section] + cost > limit:
            return False
        self.room -= cost
        self._spent[item.section] += cost
        self._groups |= {item.under, item.key}
        self.taken.append(item)
        if item.section == "failing":
            self._failing |= {item.key} - {""}
            self._drop_command(item.key)
        return True

    def _drop_command(self, key: str) -> None:
        for item in [one for one in self.taken if one.section == "commands" and one.key == key]:
            self.taken.remove(item)
            self.merged += 1
            self.room += units(item.text) + 3

    def lists(self) -> int:
        """What files and names take."""
        return sum(self._spent.get(name, 0) for name in LISTS)


def choose(items: Sequence[Item], sections: Sequence[Section], room: int) -> Choice:
    """Pinned first; each section within its share; what is worth most; more files and names."""
    choice = Choice(sections, room)
    refused = [one for one in items if one.pinned and not choice.take(one)]
    if any(one.section in NEVER_CUT for one in refused if choice.knows(one)):
        return choice  # nothing lesser stands where they found no room
    shares = {one.name: one.share * room for one in sections}
    ranked = [one for one in items if not one.pinned and one.worth > 0]
    ranked.sort(key=_density, reverse=True)
    left = [one for one in ranked if not choice.take(one, shares.get(one.section, 0.0))]
    later = []
    for item in left:
        if item.section in LISTS and choice.lists() > LISTS_SHARE * room:
            later.append(item)
        else:
            choice.take(item)
    for item in later:
        choice.take(item)
    return choice


def _density(item: Item) -> float:
    return item.worth / (units(item.text) + 12)

"""Choosing under a budget: the most worth per character first, pinned things before all."""

from collections.abc import Sequence

from holdfast.brief.item import Item
from holdfast.brief.roles import Section
from holdfast.brief.size import units


class Choice:
    """What has been taken so far, and the room that is left."""

    def __init__(self, sections: Sequence[Section], room: int) -> None:
        self.room = room
        self.taken: list[Item] = []
        self._sections = {one.name: one for one in sections}
        self._spent = dict.fromkeys(self._sections, 0)
        self._groups: set[str] = set()

    def cost(self, item: Item) -> int:
        """Its characters, with the heading and the folder line it may need."""
        cost = units(item.text) + 3
        if not self._spent[item.section]:
            cost += len(self._sections[item.section].heading) + 5
        if item.under and item.under not in self._groups and item.section == "files":
            cost += units(item.under) + 3
        return cost

    def take(self, item: Item, limit: float = 1e9) -> bool:
        if item.section not in self._sections:
            return False
        cost = self.cost(item)
        if cost > self.room or self._spent[item.section] + cost > limit:
            return False
        self.room -= cost
        self._spent[item.section] += cost
        self._groups.add(item.under)
        self.taken.append(item)
        return True


def choose(items: Sequence[Item], sections: Sequence[Section], room: int) -> Choice:
    """Pinned first; then each section within its share; then whatever is worth most."""
    choice = Choice(sections, room)
    for item in items:
        if item.pinned:
            choice.take(item)
    shares = {one.name: one.share * room for one in sections}
    ranked = sorted((one for one in items if not one.pinned), key=_density, reverse=True)
    left = [one for one in ranked if not choice.take(one, shares.get(one.section, 0.0))]
    for item in left:
        choice.take(item)
    return choice


def _density(item: Item) -> float:
    return item.worth / (units(item.text) + 12)

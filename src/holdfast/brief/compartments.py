"""Which compartment of the budget a section of a brief belongs to."""

from collections.abc import Iterable

from holdfast.brief.item import Item
from holdfast.brief.roles import Section
from holdfast.budget.compartment import ACTIVE, AMBIENT, BACKGROUND, PREFERENCES, SAFETY

_OF = {
    ACTIVE: "flight decisions tasks failing commands agents questions waves blocked messages task",
    BACKGROUND: "files fixed about",
    PREFERENCES: "said pinned",
    SAFETY: "marked",
    AMBIENT: "names references actions archived",
}
SECTION = {section: name for name, words in _OF.items() for section in words.split()}


def of(item: Item) -> str:
    """Its own, where it says one: a pin goes where the user put it."""
    return item.compartment or SECTION.get(item.section, AMBIENT)


def weights(sections: Iterable[Section]) -> dict[str, float]:
    """A role's template gives sections shares; together they are their compartment's."""
    found: dict[str, float] = {}
    for one in sections:
        name = SECTION.get(one.name, AMBIENT)
        found[name] = found.get(name, 0.0) + one.share
    return found

"""What somebody pinned: rules marked in instruction files, and pins set by hand."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.brief.item import BriefItem
from holdfast.budget.ledger import Pin
from holdfast.text.fence import flat, quoted

LONGEST, SHORTEST = 300, 30


def marked_rules(texts: Iterable[str]) -> list[BriefItem]:
    """Return rules of instruction files that the client does not restore."""
    return [
        BriefItem("marked", text, 1.0, "a marked rule", pinned=True, order=number)
        for number, text in enumerate(texts)
    ]


def pins(given: Iterable[Pin]) -> list[BriefItem]:
    """Return what was pinned by hand, each in its compartment."""
    return [
        BriefItem(
            "pinned", one.text, 1.0, f"pin {one.id}", pinned=True, compartment=one.compartment
        )
        for one in given
    ]


def pin_id(item: BriefItem) -> str:
    """Return the id of the pin; empty for an item that nobody pinned, even if it is never cut."""
    return item.reason.removeprefix("pin ") if item.section == "pinned" else ""


def shorten(items: list[BriefItem], room: int) -> list[BriefItem]:
    """Shorten the items to the room: the more there are, the shorter each is quoted."""
    most = max(SHORTEST, min(LONGEST, room // max(len(items), 1) - 5))
    return [replace(one, text=quoted(flat(one.text, most))) for one in items]

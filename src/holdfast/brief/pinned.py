"""What somebody pinned: rules marked in instruction files, and pins set by hand."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.brief.item import BriefItem
from holdfast.budget.ledger import USER, Pin
from holdfast.text.fence import flat, quoted

LONGEST, SHORTEST = 300, 30
PIN = "pin "  # how the reason of a pin begins; its id follows


def marked_rules(texts: Iterable[str]) -> list[BriefItem]:
    """Return rules of instruction files that the client does not restore."""
    return [
        BriefItem("marked", text, 1.0, "a marked rule", pinned=True, order=number)
        for number, text in enumerate(texts)
    ]


def pins(given: Iterable[Pin]) -> list[BriefItem]:
    """Return what was pinned by hand, each in its compartment. A pin that is not the user's stands
    among the model's notes, and says whose it is: what the user pinned holds like the user's words.
    """
    return [
        BriefItem(
            "pinned" if one.by == USER else "decisions",
            one.text if one.by == USER else f"{one.author}: {one.text}",
            1.0,
            f"{PIN}{one.id}",
            pinned=True,
            order=0.0 if one.by == USER else -1e3,
            compartment=one.compartment,
        )
        for one in given
    ]


def pin_id(item: BriefItem) -> str:
    """Return the id of the pin; empty for an item that is not a pin, even if it is never cut."""
    return item.reason.removeprefix(PIN) if item.reason.startswith(PIN) else ""


def shorten(items: list[BriefItem], room: int) -> list[BriefItem]:
    """Shorten the items to the room: the more there are, the shorter each is quoted."""
    most = max(SHORTEST, min(LONGEST, room // max(len(items), 1) - 5))
    return [replace(item, text=_shown(item, most)) for item in items]


def _shown(item: BriefItem, most: int) -> str:
    """Only words of the user and of the user's files are quoted."""
    text = flat(item.text, most)
    return text if item.section == "decisions" else quoted(text)

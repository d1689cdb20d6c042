"""The room of a checkpoint: who gets how much of it, and what does not fit, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.text.sentences import clip
from holdfast.wire.mark import CHARS_PER_TOKEN

TOKENS = 2500  # of the whole file
HEAD_CHARS = 900  # front matter, and characters that are written longer in the file
ROOM_CHARS = int(TOKENS * CHARS_PER_TOKEN) - HEAD_CHARS
ENDLESS = 1 << 30
PER_ITEM, PER_SECTION = 3, 6  # what an item and a heading cost beside their words
LEAST_PART = 200  # of an item that is cut
MORE = "see `holdfast search`, or the tool `recall`"


def share_out(needs: Mapping[str, int], shares: Mapping[str, float], room: int) -> dict[str, int]:
    """Divide the room. No part gets more than it needs; what is left goes to the others."""
    given: dict[str, int] = {}
    while waiting := [name for name in needs if name not in given]:
        left, of = room - sum(given.values()), sum(shares[name] for name in waiting)
        rooms = {name: int(left * shares[name] / of) for name in waiting}
        content = {name: needs[name] for name in waiting if needs[name] <= rooms[name]}
        given |= content or rooms
    return given


def size(items: Iterable[str]) -> int:
    return sum(len(item) + PER_ITEM + 2 * item.count("\n") for item in items)


def first(items: list[str], room: int) -> list[str]:
    """Return the items that fit, the beginning of the next one, and a count of the others."""
    if size(items) <= room:
        return items
    kept: list[str] = []
    room = max(0, room - size([_rest(len(items))]))
    while size([*kept, items[len(kept)]]) <= room:
        kept.append(items[len(kept)])
    left = room - size(kept) - PER_ITEM
    if left > LEAST_PART:
        kept.append(f"{clip(items[len(kept)], left - 2 * items[len(kept)].count(chr(10)))} …")
    return [*kept, _rest(len(items) - len(kept))] if len(kept) < len(items) else kept


def last(items: list[str], room: int) -> list[str]:
    return first(items[::-1], room)[::-1]


def _rest(count: int) -> str:
    return f"({count} more: {MORE})"

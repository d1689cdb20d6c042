"""The five compartments of a brief, how its room is divided among them, and the size of a text in
tokens and in UTF-16 units.

Pins come first. Of the rest every compartment has a share, and no other can push it below that.
Room that one leaves unused is lent to others by priority.
"""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.wire.mark import CHARS_PER_TOKEN


class TextEstimate(msgspec.Struct, frozen=True):
    chars: int
    tokens: int  # characters / CHARS_PER_TOKEN, as every budget counts
    model_tokens: int | None = None  # by the density measured in this session, if there is one


_TWO_UNITS = range(0xF0, 0xF5)  # first bytes of what UTF-8 writes as four, and UTF-16 as two units


def units(text: str) -> int:
    """UTF-16 units, as the client counts; never fewer than the characters."""
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "surrogatepass")  # the codec for UTF-16 takes 0.2 ms to load
    return len(text) + sum(map(data.count, _TWO_UNITS))


def tokens_of(chars: int) -> int:
    return -int(-chars // CHARS_PER_TOKEN)


def estimate(text: str, density: float = 0.0) -> TextEstimate:
    """Estimate a text. `density`: characters per token of the model, measured in its transcript."""
    return TextEstimate(
        len(text), tokens_of(len(text)), round(len(text) / density) if density else None
    )


ACTIVE, BACKGROUND, PREFERENCES, SAFETY, AMBIENT = NAMES = (
    "active_task",
    "project_background",
    "operator_preferences",
    "safety_constraints",
    "ambient_knowledge",
)
# Who borrows unused room first: constraints and preferences, which nobody says twice, then the task
# at hand, its background, and other knowledge.
PRIORITY = {SAFETY: 1, PREFERENCES: 2, ACTIVE: 3, BACKGROUND: 4, AMBIENT: 5}
WHOLE = 1000  # shares are counted in thousandths, so that they add up exactly


class Compartment(msgspec.Struct, frozen=True):
    """`share` is in thousandths of the room; a lower `priority` borrows sooner."""

    name: str
    share: int
    priority: int


def compartments(weights: Mapping[str, float], given: Mapping[str, float]) -> list[Compartment]:
    """Compartments with a set share get it; the others divide the rest by their weights."""
    fixed = {name: min(max(given[name], 0.0), 1.0) for name in NAMES if name in given}
    open_weights = {name: max(weights.get(name, 0.0), 0.0) for name in NAMES if name not in fixed}
    left = max(0.0, 1 - sum(fixed.values()))
    total = sum(open_weights.values()) or 1.0
    shares = fixed | {name: left * (weight / total) for name, weight in open_weights.items()}
    over = max(1.0, sum(shares.values()))
    return [
        Compartment(name, int(WHOLE * shares[name] / over + 1e-9), PRIORITY[name]) for name in NAMES
    ]


class Wish(msgspec.Struct, frozen=True):
    """How much a compartment could use, and how much of that is pinned."""

    wanted: int = 0
    pinned: int = 0


class Allotment(msgspec.Struct, frozen=True):
    """How much each compartment may fill, and its own share of the room that pins left."""

    granted: dict[str, int]
    shares: dict[str, int]


def allot(total: int, compartments: Sequence[Compartment], wishes: Mapping[str, Wish]) -> Allotment:
    """Divide the room, in the unit of `total`: pins first, then to each compartment its share of
    the rest, as far as it can use it; then what is left, by priority."""
    ranked = sorted(compartments, key=lambda compartment: compartment.priority)
    wanted = [wishes.get(compartment.name, Wish()) for compartment in ranked]
    pinned = _take(max(total, 0), [max(0, wish.pinned) for wish in wanted])
    free = max(total, 0) - sum(pinned)
    others = [max(0, wish.wanted - pin) for wish, pin in zip(wanted, pinned, strict=True)]
    shares = [compartment.share * free // WHOLE for compartment in ranked]
    own = [min(pair) for pair in zip(others, shares, strict=True)]
    missing = [other - part for other, part in zip(others, own, strict=True)]
    lent = _take(free - sum(own), missing)
    parts = zip(pinned, own, lent, strict=True)
    names = [compartment.name for compartment in ranked]
    return Allotment(
        dict(zip(names, map(sum, parts), strict=True)), dict(zip(names, shares, strict=True))
    )


def _take(room: int, wanted: Sequence[int]) -> list[int]:
    """Give each what it wants while there is room."""
    amounts = []
    for amount in wanted:
        amounts.append(min(amount, room))
        room -= amounts[-1]
    return amounts

"""The five compartments of a brief, how its room is divided among them, and the size of a text in
tokens and in UTF-16 units.

Every compartment has a share. Room that one leaves unused is lent to others by priority. Pins come
first: only they may shrink the shares, and then all shares alike. No other compartment can push one
below its share, or below its need if that is less. Amounts are counted in thousandths, so that
nothing is lost to rounding and more room never means less for any compartment.
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

    def part_of(self, room: int) -> int:
        return self.share * room // WHOLE


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


class Grant(msgspec.Struct, frozen=True):
    name: str
    share: int  # its own part of the room
    granted: int
    pinned: int
    borrowed: int = 0
    lent: int = 0


class Loan(msgspec.Struct, frozen=True):
    lender: str
    borrower: str
    amount: int
    words: str


class Allotment(msgspec.Struct, frozen=True):
    total: int
    grants: dict[str, Grant]
    loans: list[Loan]
    pressed: bool = False  # pins took so much that all shares had to shrink

    def granted(self, name: str) -> int:
        found = self.grants.get(name)
        return found.granted if found else 0


def allot(total: int, compartments: Sequence[Compartment], wishes: Mapping[str, Wish]) -> Allotment:
    """How much of the room each compartment may fill, in the unit of `total`."""
    ranked = sorted(compartments, key=lambda one: one.priority)
    total = max(total, 0)
    pins = _pins(total * WHOLE, ranked, wishes)
    wants = {one.name: max(_wish(wishes, one).wanted * WHOLE, pins[one.name]) for one in ranked}
    level = _level(total * WHOLE, ranked, wants, pins)
    own = {one.name: _own_part(one, level, wants, pins) for one in ranked}
    pressed = level < total * WHOLE
    granted = own if pressed else _with_loans(total * WHOLE, ranked, own, wants)
    return _allotment(total, ranked, own, granted, pins, pressed)


def _wish(wishes: Mapping[str, Wish], one: Compartment) -> Wish:
    return wishes.get(one.name) or Wish()


def _pins(room: int, ranked: Sequence[Compartment], wishes: Mapping[str, Wish]) -> dict[str, int]:
    """The pins, which come first. If they exceed the room, the highest priorities get theirs."""
    found: dict[str, int] = {}
    for one in ranked:
        found[one.name] = min(max(_wish(wishes, one).pinned, 0) * WHOLE, room)
        room -= found[one.name]
    return found


def _own_part(
    one: Compartment, level: int, wants: Mapping[str, int], pins: Mapping[str, int]
) -> int:
    """Its share at this level, as far as it can use it, but at least its pins."""
    return max(pins[one.name], min(wants[one.name], one.share * level // WHOLE))


def _level(
    room: int, ranked: Sequence[Compartment], wants: Mapping[str, int], pins: Mapping[str, int]
) -> int:
    """The room that shares are computed from: all of it, or what pins leave of it."""

    def fits(level: int) -> bool:
        return sum(_own_part(one, level, wants, pins) for one in ranked) <= room

    low, high = (room, room) if fits(room) else (0, room - 1)  # mostly all of it
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _with_loans(
    room: int, ranked: Sequence[Compartment], own: Mapping[str, int], wants: Mapping[str, int]
) -> dict[str, int]:
    left = room - sum(own.values())
    granted = dict(own)
    for one in ranked:
        more = min(left, wants[one.name] - own[one.name])
        granted[one.name] += more
        left -= more
    return granted


def _allotment(
    total: int,
    ranked: Sequence[Compartment],
    own: Mapping[str, int],
    granted: Mapping[str, int],
    pins: Mapping[str, int],
    pressed: bool,
) -> Allotment:
    """The result in whole units, with every loan in words."""
    shares = {one.name: one.share * total // WHOLE for one in ranked}
    borrowed = {name: granted[name] // WHOLE - own[name] // WHOLE for name in granted}
    unused = {name: max(0, shares[name] - granted[name] // WHOLE) for name in granted}
    loans = _loans(ranked, borrowed, unused)
    grants = {
        one.name: Grant(
            one.name,
            shares[one.name],
            granted[one.name] // WHOLE,
            pins[one.name] // WHOLE,
            borrowed[one.name],
            sum(loan.amount for loan in loans if loan.lender == one.name),
        )
        for one in ranked
    }
    return Allotment(total, grants, loans, pressed)


def _loans(
    ranked: Sequence[Compartment], borrowed: Mapping[str, int], unused: Mapping[str, int]
) -> list[Loan]:
    """Who lends to whom. Those with the most unused room lend first."""
    left = dict(unused)
    found: list[Loan] = []
    for one in ranked:
        need = borrowed[one.name]
        for lender in sorted(left, key=lambda name: (-left[name], name)):
            amount = min(need, left[lender])
            if amount > 0 and lender != one.name:
                words = f"{one.name} borrows {amount:,} that {lender} leaves of its share"
                found.append(Loan(lender, one.name, amount, words))
                left[lender] -= amount
                need -= amount
    return found

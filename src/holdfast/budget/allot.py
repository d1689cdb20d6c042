"""Dividing the room: everyone has a share, what one leaves is lent by priority, pins hold first.

Nobody is crowded out below what it needs or its share, whichever is less. Only pins may press the
shares down, and then all of them alike. Counted in thousandths inside, so that nothing is lost to
rounding and more room never means less for anyone.
"""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.budget.compartment import WHOLE, Compartment


class Wish(msgspec.Struct, frozen=True):
    """What a compartment could use; of that, what must be there whatever becomes of the rest."""

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
    pressed: bool = False  # pins took so much that no share could be kept whole

    def granted(self, name: str) -> int:
        found = self.grants.get(name)
        return found.granted if found else 0


def allot(total: int, compartments: Sequence[Compartment], wishes: Mapping[str, Wish]) -> Allotment:
    """How much of the room each compartment may fill; any unit, as long as it is one."""
    ranked = sorted(compartments, key=lambda one: one.priority)
    total = max(total, 0)
    pins = _pins(total * WHOLE, ranked, wishes)
    wants = {one.name: max(_wish(wishes, one).wanted * WHOLE, pins[one.name]) for one in ranked}
    level = _level(total * WHOLE, ranked, wants, pins)
    own = {one.name: _own(one, level, wants, pins) for one in ranked}
    pressed = level < total * WHOLE
    granted = own if pressed else _with_loans(total * WHOLE, ranked, own, wants)
    return _told(total, ranked, own, granted, pins, pressed)


def _wish(wishes: Mapping[str, Wish], one: Compartment) -> Wish:
    return wishes.get(one.name) or Wish()


def _pins(room: int, ranked: Sequence[Compartment], wishes: Mapping[str, Wish]) -> dict[str, int]:
    """Before all else; should even they be too many, the first in rank have theirs."""
    found: dict[str, int] = {}
    for one in ranked:
        found[one.name] = min(max(_wish(wishes, one).pinned, 0) * WHOLE, room)
        room -= found[one.name]
    return found


def _own(one: Compartment, level: int, wants: Mapping[str, int], pins: Mapping[str, int]) -> int:
    """Its share at this level, as far as it can use it, and never less than its pins."""
    return max(pins[one.name], min(wants[one.name], one.share * level // WHOLE))


def _level(
    room: int, ranked: Sequence[Compartment], wants: Mapping[str, int], pins: Mapping[str, int]
) -> int:
    """The room that shares are shares of: all of it, or as much as the pins of others leave."""
    low, high = 0, room
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_own(one, middle, wants, pins) for one in ranked) <= room:
            low = middle
        else:
            high = middle - 1
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


def _told(
    total: int,
    ranked: Sequence[Compartment],
    own: Mapping[str, int],
    granted: Mapping[str, int],
    pins: Mapping[str, int],
    pressed: bool,
) -> Allotment:
    """In whole units, with every loan in words."""
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
    """Who lends to whom: those that leave most first. What no share covers is nobody's to lend."""
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

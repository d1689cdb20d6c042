"""Laws of the room: shares hold, what is left is lent by priority, pins come first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.budget.compartments import NAMES, WHOLE, Compartment, Wish, allot, compartments

ROOMS = st.integers(0, 12_000)


@st.composite
def desks(draw: st.DrawFn) -> tuple[list[Compartment], dict[str, Wish]]:
    weights = {name: draw(st.floats(0, 1)) for name in NAMES}
    given_shares = draw(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1), max_size=3))
    wishes = {}
    for name in NAMES:
        pinned = draw(st.integers(0, 4_000) | st.just(0))
        wishes[name] = Wish(pinned + draw(st.integers(0, 20_000)), pinned)
    return compartments(weights, given_shares), wishes


@pytest.mark.requirement("K1", "K2")
@given(desks(), ROOMS)
def test_never_more_than_there_is_nor_than_anyone_wants(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    assert sum(one.granted for one in found.grants.values()) <= total
    for name, wish in wishes.items():
        assert found.granted(name) <= max(wish.wanted, wish.pinned)


@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_nobody_is_crowded_out_below_its_need_or_its_share(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    for one in five:
        least = min(wishes[one.name].wanted, one.part_of(total))
        if not found.pressed:
            assert found.granted(one.name) >= least
    if all(wishes[one.name].pinned <= one.part_of(total) for one in five):
        assert not found.pressed, "only pins beyond their share press the others"


@pytest.mark.slow
@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_pressed_by_pins_all_that_have_none_are_pressed_alike(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    free = [one for one in five if one.share and not wishes[one.name].pinned]
    short = [one for one in free if found.granted(one.name) < wishes[one.name].wanted]
    levels = [found.granted(one.name) * WHOLE / one.share for one in short]
    if found.pressed and levels:
        slack = max(WHOLE / one.share for one in short)
        assert max(levels) - min(levels) <= slack + 1


@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_pins_come_first(desk: tuple[list[Compartment], dict[str, Wish]], total: int) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    if sum(wish.pinned for wish in wishes.values()) <= total:
        for name, wish in wishes.items():
            assert found.granted(name) >= wish.pinned
    else:
        assert sum(one.granted for one in found.grants.values()) == total, "to pins alone"
        assert all(one.granted == one.pinned for one in found.grants.values())


@pytest.mark.requirement("K2")
@given(desks(), ROOMS, st.integers(1, 500))
def test_more_room_is_never_less_for_anyone(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int, more: int
) -> None:
    five, wishes = desk
    before, after = allot(total, five, wishes), allot(total + more, five, wishes)
    for name in NAMES:
        assert after.granted(name) >= before.granted(name)


@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_the_same_question_has_one_answer_in_whatever_order_it_is_asked(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    backwards = dict(reversed(wishes.items()))
    assert allot(total, five, wishes) == allot(total, list(reversed(five)), backwards)


@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_nothing_is_left_while_somebody_wants_it(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    if not found.pressed:
        left = total - sum(one.granted for one in found.grants.values())
        wanting = [n for n, wish in wishes.items() if found.granted(n) < wish.wanted]
        assert left <= len(five) or not wanting


@pytest.mark.requirement("K1", "K2")
@given(desks(), ROOMS)
def test_every_loan_is_covered_by_what_its_lender_leaves(
    desk: tuple[list[Compartment], dict[str, Wish]], total: int
) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    for name, grant in found.grants.items():
        assert grant.lent <= max(0, grant.share - grant.granted)
        assert grant.lent == sum(one.amount for one in found.loans if one.lender == name)
    for loan in found.loans:
        assert loan.lender != loan.borrower
        assert loan.lender in loan.words and f"{loan.amount:,}" in loan.words


@pytest.mark.requirement("K1", "K2")
def test_what_one_leaves_is_lent_by_priority_and_told_in_words() -> None:
    five = [Compartment("a", 400, 2), Compartment("b", 400, 1), Compartment("c", 200, 3)]
    wishes = {"a": Wish(900), "b": Wish(500), "c": Wish(50)}
    found = allot(1000, five, wishes)
    assert {name: one.granted for name, one in found.grants.items()} == {
        "a": 450,
        "b": 500,
        "c": 50,
    }
    assert [loan.words for loan in found.loans] == [
        "b borrows 100 that c leaves of its share",
        "a borrows 50 that c leaves of its share",
    ]


@pytest.mark.requirement("K1")
@given(st.dictionaries(st.sampled_from(NAMES), st.floats(-1, 2)))
def test_shares_never_add_up_to_more_than_all(given_shares: dict[str, float]) -> None:
    five = compartments(dict.fromkeys(NAMES, 0.2), given_shares)
    assert [one.name for one in five] == list(NAMES)
    assert sum(one.share for one in five) <= WHOLE
    assert all(one.share >= 0 for one in five)

"""Laws of the room: pins come first, shares hold, what is left is lent by priority."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.budget.compartments import NAMES, WHOLE, Compartment, Wish, allot, compartments

ROOMS = st.integers(0, 12_000)
Desk = tuple[list[Compartment], dict[str, Wish]]


@st.composite
def desks(draw: st.DrawFn) -> Desk:
    weights = {name: draw(st.floats(0, 1)) for name in NAMES}
    given_shares = draw(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1), max_size=3))
    wishes = {}
    for name in NAMES:
        pinned = draw(st.integers(0, 4_000) | st.just(0))
        wishes[name] = Wish(pinned + draw(st.integers(0, 20_000)), pinned)
    return compartments(weights, given_shares), wishes


@pytest.mark.requirement("K1", "K2")
@given(desks(), ROOMS)
def test_all_the_room_is_given_and_nobody_gets_more_than_it_wants(desk: Desk, total: int) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    wanted = sum(wish.wanted for wish in wishes.values())
    assert sum(found.granted.values()) == min(total, wanted)
    assert all(found.granted[name] <= wish.wanted for name, wish in wishes.items())


@pytest.mark.requirement("K2")
@given(desks(), ROOMS)
def test_nobody_is_crowded_out_of_its_share_of_what_pins_leave(desk: Desk, total: int) -> None:
    five, wishes = desk
    found = allot(total, five, wishes)
    pinned = sum(wish.pinned for wish in wishes.values())
    for one in five:
        wish, share = wishes[one.name], one.share * max(0, total - pinned) // WHOLE
        least = min(wish.wanted, wish.pinned + share) if pinned <= total else 0
        assert found.granted[one.name] >= least


@pytest.mark.requirement("K1", "K2")
def test_what_one_leaves_is_lent_by_priority() -> None:
    five = [Compartment("a", 400, 2), Compartment("b", 400, 1), Compartment("c", 200, 3)]
    wishes = {"a": Wish(900), "b": Wish(500), "c": Wish(50)}
    assert allot(1000, five, wishes).granted == {"a": 450, "b": 500, "c": 50}


@pytest.mark.requirement("K1")
@given(st.dictionaries(st.sampled_from(NAMES), st.floats(-1, 2)))
def test_shares_never_add_up_to_more_than_all(given_shares: dict[str, float]) -> None:
    five = compartments(dict.fromkeys(NAMES, 0.2), given_shares)
    assert [one.name for one in five] == list(NAMES)
    assert sum(one.share for one in five) <= WHOLE
    assert all(one.share >= 0 for one in five)

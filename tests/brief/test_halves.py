"""A brief that is too long for one hook is printed by two, and each half can be read alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.compose import CONTINUES, HEADING, TO_BE_CONTINUED, Brief, compose, halves_of
from holdfast.brief.item import FIRST_UNITS, MOST_BRIEF_UNITS, MOST_UNITS, OUTPUT_TOKENS
from holdfast.budget.compartments import units
from holdfast.text import fence
from tests.brief.test_quotes import busy, said

pytestmark = pytest.mark.requirement("B2")

OPENING = fence.opening("this session's transcript, step 7", "Quotes.")
ITEMS = st.builds(
    lambda words, times: f"- x{words * times}x",
    st.sampled_from(["tide ", "港", "\U0001f30a"]),
    st.integers(1, 4_000),
)
BODIES = st.lists(ITEMS | st.sampled_from([HEADING, "  → “done”"]), min_size=8, max_size=60)


def a_brief(body: list[str]) -> Brief:
    """A brief of these lines, as many as a brief may have."""
    lines = [OPENING, "## What the user said", "- “Go on.”"]
    for number, line in enumerate(body):
        line = f"{line}section {number}" if line == HEADING else line
        if units("\n".join([*lines, line, fence.closing()])) <= MOST_BRIEF_UNITS:
            lines.append(line)
    return Brief("\n".join([*lines, fence.closing()]), [], "developer")


def inside(half: str) -> list[str]:
    """The lines of a half that come from the brief."""
    return [
        one for one in fence.inside(half).split("\n") if one not in (CONTINUES, TO_BE_CONTINUED)
    ]


@given(BODIES)
def test_no_line_is_lost_and_each_half_is_fenced_and_fits(body: list[str]) -> None:
    brief = a_brief(body)
    halves = halves_of(brief)
    assert len(halves) == (1 if units(brief.text) <= FIRST_UNITS else 2)
    for half, most in zip(halves, (FIRST_UNITS, MOST_UNITS), strict=False):
        assert half.startswith(f"{OPENING}\n") and half.endswith(f"\n{fence.closing()}")
        assert units(half) <= most
    told = [line for half in halves for line in inside(half)]
    headings = [line for line in inside(halves[0]) if line.startswith(HEADING)]
    if len(halves) == 2 and told[len(inside(halves[0]))] == headings[-1]:
        del told[len(inside(halves[0]))]  # the heading is said again
    assert "".join(told).replace("……", "") == "".join(inside(brief.text))


def test_the_second_half_begins_with_an_item_under_its_heading() -> None:
    body = ["- first", "## Commands", *(f"- run {'x' * 900}\n  → it passed" for _ in range(15))]
    first, second = halves_of(a_brief("\n".join(body).split("\n")))
    assert first.endswith(f"\n  → it passed\n{TO_BE_CONTINUED}\n{fence.closing()}")
    assert inside(second)[0] == "## Commands"
    assert inside(second)[1].startswith("- run ")


def test_a_heading_does_not_stand_alone_at_the_end_of_the_first_half() -> None:
    filled = FIRST_UNITS - units(f"{OPENING}{TO_BE_CONTINUED}{fence.closing()}") - 40
    body = [f"- {'x' * filled}", "## Commands", f"- run {'x' * 90}", "- stop"]
    first, second = halves_of(a_brief(body))
    assert "## Commands" not in first
    assert inside(second)[0] == "## Commands"


def test_a_long_session_is_told_in_two_halves_and_a_short_one_in_one() -> None:
    words = [f"Harbour rule {n}: {'the pier stays closed ' * 20}." for n in range(60)]
    brief = compose(busy(said(*words)), OUTPUT_TOKENS, given="")
    assert units(brief.text) > FIRST_UNITS
    assert len(halves_of(brief)) == 2
    short = compose(said("Close the pier."), OUTPUT_TOKENS, given="")
    assert halves_of(short) == [short.text]

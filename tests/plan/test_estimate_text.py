"""Estimates are said with the digits that mean something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimates.estimate import TaskEstimate, estimate_of_share
from holdfast.plan.estimates.estimate import estimate_of_plan as given_tokens
from holdfast.text.numbers import about, counted, short, span


@pytest.mark.requirement("P1")
@given(st.integers(0, 1 << 40))
def test_two_digits_remain_and_are_near(tokens: int) -> None:
    said = about(tokens)
    assert abs(int(said.replace(",", "")) - tokens) * 20 <= tokens
    assert len(said.replace(",", "").rstrip("0")) <= 2


@pytest.mark.requirement("P1", "U3")
def test_counts_and_ranges_as_people_say_them() -> None:
    assert (about(17_386), about(995), about(7)) == ("17,000", "1,000", "7")
    assert (span(5_886, 49_040), span(5, 5)) == ("5,900 to 49,000", "")
    assert [counted(n, "batch") for n in (0, 1, 2)] == ["0 batches", "1 batch", "2 batches"]
    assert counted(1_000, "task") == "1,000 tasks"
    assert given_tokens(12_345).in_words == ("12,345", "as given")
    assert estimate_of_share(133_334).in_words == ("130,000", "a share")
    assert TaskEstimate(17_386, 5_886, 49_040, "").in_words == ("17,000", "5,900 to 49,000")
    assert (short("a b c", 5), short("a b c d", 5)) == ("a b c", "a b…")

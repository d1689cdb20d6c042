"""Those nearest, found without measuring all, are those that measuring all would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimates.likeness import Nearest

NAMES = ("chars", "formula", "question", "builds", "lines")
EIGHTHS = st.integers(0, 64).map(lambda number: number / 8)  # sums of these are exact
ROWS = st.tuples(
    EIGHTHS, EIGHTHS, st.sampled_from((0.0, 2.0)), st.sampled_from((0.0, 2.5)), EIGHTHS
)


@pytest.mark.requirement("P1")
@given(st.lists(st.tuples(ROWS, st.sampled_from((0.0, 2.0))), min_size=9, max_size=60), ROWS)
def test_the_nearest_are_those_that_measuring_all_finds(
    past: list[tuple[tuple[float, ...], float]], asked: tuple[float, ...]
) -> None:
    rows, far = [row for row, _ in past], [more for _, more in past]
    measured = [
        sum(abs(a - b) for a, b in zip(asked, row, strict=True)) + more for row, more in past
    ]
    expected = sorted(range(len(past)), key=lambda at: (measured[at], at))[:9]
    assert Nearest(rows, far, NAMES).to(asked, 9) == expected

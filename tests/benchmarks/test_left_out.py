"""The numbers that are tried with other values are those of the code."""

from __future__ import annotations

import pytest
from benchmarks.left_out import FITTED, FITTED_SMALL

from holdfast.brief import files_and_commands


@pytest.mark.requirement("B5")
@pytest.mark.parametrize(("number", "values"), [*FITTED.items(), *FITTED_SMALL.items()])
def test_the_first_value_of_a_fitted_number_is_the_one_in_the_code(
    number: str, values: tuple[float, ...]
) -> None:
    assert getattr(files_and_commands, number) == values[0]

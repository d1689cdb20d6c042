"""Velocity and forecast."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.window.velocity import forecast, in_words, velocity

MINUTE = 60_000


@pytest.mark.requirement("W7")
def test_velocity_is_the_mean_of_the_last_three_operations() -> None:
    assert velocity([0, 9_000, 10_000, 12_000, 15_000], 15_000) == 2_000


@pytest.mark.requirement("W7")
def test_the_forecast_says_how_many_operations_and_minutes_and_why() -> None:
    times = [i * MINUTE for i in range(4)]
    ahead = forecast([10_000, 12_000, 14_000, 16_000], times, 16_000, 36_000)
    assert (ahead.ops_left, ahead.minutes_left) == (20, 20.0)
    assert ahead.basis == ("957 tokens per step expected; the last 3 added 2,000 each, 60 s apart")


@pytest.mark.requirement("W7")
def test_one_operation_is_too_few_to_guess_from() -> None:
    ahead = forecast([10_000, 12_000], [0, 1], 12_000, 36_000)
    assert (ahead.velocity_tokens_per_op, ahead.ops_left, ahead.minutes_left) == (None, None, None)
    assert ahead.basis == "unknown yet: it needs 1 more step"
    level = forecast([10_000] * 4, [0, 1, 2, 3], 10_000, 36_000)
    assert level.ops_left is None and level.basis.startswith("unknown: ")


@pytest.mark.requirement("W7")
def test_a_lunch_break_does_not_stretch_the_minutes() -> None:
    times = [0, MINUTE, 2 * MINUTE, 120 * MINUTE]
    ahead = forecast([10_000, 12_000, 14_000, 16_000], times, 16_000, 36_000)
    assert ahead.minutes_left == 20.0


@pytest.mark.requirement("W7")
@given(st.lists(st.integers(-2_000, 30_000), min_size=3, max_size=60), st.integers(0, 200_000))
def test_the_steps_left_follow_from_the_basis_and_lie_in_the_range(
    steps: list[int], room: int
) -> None:
    levels = [20_000]
    for step in steps:
        levels.append(max(1_000, levels[-1] + step))
    ahead = forecast(levels, [], levels[-1], levels[-1] + room)
    if ahead.ops_left is None:
        assert ahead.ops_left_low is None
        return
    assert ahead.ops_left_low is not None and ahead.ops_left_high is not None
    assert 0 <= ahead.ops_left_low <= ahead.ops_left <= ahead.ops_left_high
    assert ahead.growth and ahead.ops_left == int(room / ahead.growth)
    assert ahead.basis.startswith(f"{ahead.growth:,.0f} tokens per step")


@pytest.mark.parametrize(
    ("steps", "pace_ms", "words"),
    [
        (None, None, ""),
        (0, None, "less than one step"),
        (1, None, "about 1 step"),
        (734, None, "about 730 steps"),
        (13, 60_000.0, "about 13 steps, 13 min"),
        (49, 600_000.0, "about 49 steps, 8 h"),
    ],
)
def test_the_steps_left_are_one_number_or_nothing(
    steps: int | None, pace_ms: float | None, words: str
) -> None:
    assert in_words(steps, pace_ms) == words

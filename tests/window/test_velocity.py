"""Velocity and forecast."""

from __future__ import annotations

import pytest

from holdfast.window.velocity import forecast, velocity

MINUTE = 60_000


@pytest.mark.requirement("W7")
def test_velocity_is_the_mean_of_the_last_three_operations() -> None:
    assert velocity([0, 9_000, 10_000, 12_000, 15_000], 15_000) == 2_000


@pytest.mark.requirement("W7")
def test_the_forecast_says_how_many_operations_and_minutes_and_why() -> None:
    times = [i * MINUTE for i in range(4)]
    ahead = forecast([10_000, 12_000, 14_000, 16_000], times, 16_000, 36_000)
    assert (ahead.ops_left, ahead.minutes_left) == (10, 10.0)
    assert ahead.basis == "mean of the last 3 operations, 2,000 tokens each, one in 60 s"


@pytest.mark.requirement("W7")
def test_one_operation_is_too_few_to_guess_from() -> None:
    ahead = forecast([10_000, 12_000], [0, 1], 12_000, 36_000)
    assert (ahead.velocity_tokens_per_op, ahead.ops_left, ahead.minutes_left) == (None, None, None)
    assert ahead.basis.startswith("unknown")


@pytest.mark.requirement("W7")
def test_a_window_that_does_not_grow_has_no_end_in_sight() -> None:
    ahead = forecast([10_000] * 4, [0, 1, 2, 3], 10_000, 36_000)
    assert ahead.ops_left is None
    assert ahead.basis.startswith("unknown")


@pytest.mark.requirement("W7")
def test_a_lunch_break_does_not_stretch_the_minutes() -> None:
    times = [0, MINUTE, 2 * MINUTE, 120 * MINUTE]
    ahead = forecast([10_000, 12_000, 14_000, 16_000], times, 16_000, 36_000)
    assert ahead.minutes_left == 10.0


@pytest.mark.requirement("W7")
def test_without_times_the_minutes_are_unknown_and_the_operations_are_not() -> None:
    ahead = forecast([10_000, 12_000, 14_000, 16_000], [0, 0, 0, 0], 16_000, 36_000)
    assert (ahead.ops_left, ahead.minutes_left) == (10, None)


@pytest.mark.requirement("W7")
def test_past_the_edge_nothing_is_left() -> None:
    assert forecast([1_000, 2_000, 3_000], [0, 1, 2], 50_000, 36_000).ops_left == 0

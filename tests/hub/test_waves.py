"""How the status of a wave is derived."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hub.tree.waves import SETTLED, WaveState, judge, moves

Tasks: TypeAlias = list[tuple[int, str]]
STATUSES = ("pending", "running", "paused", "blocked", "completed", "failed")
TASKS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(STATUSES)), max_size=20)


def _tallied(tasks: Tasks) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for number, status in tasks:
        found.setdefault(number, Counter())[status] += 1
    return found


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("tasks", "verdict"),
    [
        ([], {}),
        ([(0, "pending"), (1, "pending")], {0: "pending", 1: "pending"}),
        ([(0, "running"), (0, "pending")], {0: "running"}),
        ([(0, "completed"), (0, "pending")], {0: "running"}),
        (
            [(0, "completed"), (3, "pending"), (7, "pending")],
            {0: "completed", 3: "running", 7: "pending"},
        ),
        ([(0, "failed"), (0, "completed"), (1, "pending")], {0: "failed", 1: "pending"}),
        ([(0, "blocked")], {0: "blocked"}),
        ([(0, "completed"), (0, "blocked")], {0: "blocked"}),
        ([(0, "completed"), (1, "blocked")], {0: "completed", 1: "blocked"}),
        ([(0, "blocked"), (0, "running")], {0: "running"}),
        ([(0, "blocked"), (0, "pending")], {0: "pending"}),
        ([(0, "failed"), (1, "running")], {0: "failed", 1: "running"}),
    ],
)
def test_how_tasks_stand_says_how_waves_stand(tasks: Tasks, verdict: dict[int, str]) -> None:
    assert judge(_tallied(tasks)) == verdict


@pytest.mark.requirement("A6")
@given(TASKS)
def test_a_wave_is_settled_exactly_when_all_its_tasks_are_over(
    tasks: Tasks,
) -> None:
    for number, status in judge(_tallied(tasks)).items():
        told = {one for wave, one in tasks if wave == number}
        assert (status in SETTLED) == (told <= SETTLED)
        assert (status == "completed") == (told == {"completed"})


@pytest.mark.requirement("A6")
@given(TASKS)
def test_nothing_waits_right_behind_waves_that_are_completed(tasks: Tasks) -> None:
    verdict = judge(_tallied(tasks))
    for number, status in verdict.items():
        before = [verdict[n] for n in verdict if n < number]
        if before and set(before) == {"completed"}:
            assert status != "pending"


@pytest.mark.requirement("A6")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=15), st.randoms(use_true_random=False))
def test_whatever_order_tasks_end_in_each_wave_starts_and_completes_once(
    waves: list[int], chance: Random
) -> None:
    tasks = [(number, "pending") for number in waves]
    order = list(range(len(tasks)))
    chance.shuffle(order)
    kept: dict[int, WaveState] = {}
    told: list[tuple[int, str]] = []
    for now, at in enumerate([None, *order]):
        if at is not None:
            tasks[at] = (waves[at], "completed")
        for wave in moves(kept, judge(_tallied(tasks)), now):
            kept[wave.number] = wave
            told.append((wave.number, wave.status))
    assert sorted(told) == sorted(set(told)), "said twice"
    assert {wave.status for wave in kept.values()} == {"completed"}
    for wave in kept.values():
        assert wave.started_ms is not None and wave.completed_ms is not None
        assert wave.started_ms <= wave.completed_ms


@pytest.mark.requirement("A6")
@given(TASKS)
def test_what_is_known_already_is_no_move(tasks: Tasks) -> None:
    verdict = judge(_tallied(tasks))
    kept = {wave.number: wave for wave in moves({}, verdict, 7)}
    assert {n: wave.status for n, wave in kept.items()} == verdict
    assert moves(kept, verdict, 8) == []


@pytest.mark.requirement("A6")
def test_a_settled_wave_that_gets_a_new_task_is_open_again_and_keeps_its_beginning() -> None:
    kept = {0: WaveState(0, "completed", 3, 5)}
    [again] = moves(kept, judge({0: {"completed": 1, "pending": 1}}), 9)
    assert again == WaveState(0, "running", 3, None)


@pytest.mark.requirement("A6")
def test_a_blocked_wave_has_begun_only_if_something_in_it_has() -> None:
    [never] = moves({}, {0: "blocked"}, 9)
    assert never == WaveState(0, "blocked", None, None)
    [begun] = moves({0: WaveState(0, "running", 3, None)}, {0: "blocked"}, 9)
    assert begun == WaveState(0, "blocked", 3, None)

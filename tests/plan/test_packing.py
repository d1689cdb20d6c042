"""Batches fit, respect what waits for what, and hold every task once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.batch_order import Load
from holdfast.plan.packing import pack, pack_as_listed, relieve


@st.composite
def some_loads(draw: st.DrawFn) -> list[Load]:
    """Any plan without circles: a task may need any of those before it."""
    count = draw(st.integers(1, 25))
    return [
        Load(
            draw(st.integers(1, 130)),
            tuple(sorted(draw(st.sets(st.integers(0, at - 1), max_size=4)))) if at else (),
            draw(st.sampled_from("abcdefghij")) if draw(st.booleans()) else f"own-{at}",
        )
        for at in range(count)
    ]


def _must_hold(loads: list[Load], batches: list[list[int]], specs: int) -> None:
    order = [at for batch in batches for at in batch]
    assert sorted(order) == list(range(len(loads)))
    done: set[int] = set()
    for at in order:
        assert done.issuperset(loads[at].needs)
        done.add(at)
    for batch in batches:
        assert len(batch) == 1 or sum(loads[at].size for at in batch) <= 100
        assert len({loads[at].spec for at in batch}) <= specs


@pytest.mark.requirement("P3")
@given(some_loads(), st.integers(1, 5))
def test_every_task_once_in_order_and_within_the_room(loads: list[Load], specs: int) -> None:
    _must_hold(loads, pack(loads, 100, specs), specs)


@st.composite
def some_parts(draw: st.DrawFn) -> list[Load]:
    """Tasks, some of them cut: every part waits for all parts of what its task waits for, and the
    steps of a task for each other."""
    loads: list[Load] = []
    parts_of: list[list[int]] = []
    for task in range(draw(st.integers(1, 9))):
        before = draw(st.sets(st.integers(0, task - 1), max_size=2)) if task else set()
        needs = tuple(at for one in sorted(before) for at in parts_of[one])
        in_steps = draw(st.booleans())
        parts_of.append([])
        for size in draw(st.lists(st.integers(1, 130), min_size=1, max_size=5)):
            chain = tuple(parts_of[-1][-1:]) if in_steps else ()
            parts_of[-1].append(len(loads))
            loads.append(Load(size, (*needs, *chain), f"task-{task}"))
    return loads


@pytest.mark.requirement("P2", "P3")
@given(some_parts(), st.integers(1, 4))
def test_the_parts_of_one_task_stand_in_batches_that_follow_each_other(
    loads: list[Load], specs: int
) -> None:
    batches = pack(loads, 100, specs)
    _must_hold(loads, batches, specs)
    for spec in {load.spec for load in loads}:
        held = [n for n, batch in enumerate(batches) if any(loads[at].spec == spec for at in batch)]
        assert held == list(range(held[0], held[-1] + 1))


@pytest.mark.requirement("P3")
@given(some_loads(), st.randoms(use_true_random=False))
def test_another_order_of_the_plan_is_as_valid(loads: list[Load], chance: object) -> None:
    shuffled = list(range(len(loads)))
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    place = {at: index for index, at in enumerate(shuffled)}
    moved = [
        Load(loads[at].size, tuple(place[need] for need in loads[at].needs), loads[at].spec)
        for at in shuffled
    ]
    _must_hold(moved, pack(moved, 100, 3), 3)


@pytest.mark.requirement("P3")
@given(some_loads())
def test_equal_plans_give_equal_batches(loads: list[Load]) -> None:
    assert pack(loads, 100, 3) == pack(list(loads), 100, 3)


@pytest.mark.requirement("P3")
@given(some_loads())
def test_a_batch_stands_before_another_only_if_the_list_or_a_need_says_so(
    loads: list[Load],
) -> None:
    loads = [replace(load, spec=str(at)) for at, load in enumerate(loads)]
    batches = pack(loads, 100, 3)
    for before, after in pairwise(batches):
        needed = {need for at in after for need in loads[at].needs}
        assert min(before) < min(after) or needed.intersection(before)
    for batch in batches:
        for one, other in pairwise(batch):
            assert one < other or one in loads[other].needs


@pytest.mark.requirement("P3")
def test_a_list_that_fits_as_it_stands_is_done_as_it_stands() -> None:
    loads = [Load(size, (), str(at)) for at, size in enumerate([10, 30, 20, 5, 40, 25, 30, 7, 9])]
    order = [at for batch in pack(loads, 100, 3) for at in batch]
    assert order == list(range(9))


@pytest.mark.requirement("P3")
def test_a_task_too_large_keeps_its_place_in_the_list() -> None:
    loads = [Load(size, (), str(at)) for at, size in enumerate([90, 500, 90, 600, 90])]
    assert pack(loads, 100, 3) == [[0], [1], [2], [3], [4]]


@pytest.mark.requirement("P4")
def test_at_most_so_many_specs_share_a_session() -> None:
    loads = [Load(1, (), f"s{n}") for n in range(7)]
    assert [len(batch) for batch in pack(loads, 100, 3)] == [3, 3, 1]
    parts = [Load(1, (), "same") for _ in range(7)]
    assert len(pack(parts, 100, 3)) == 1


@pytest.mark.requirement("P3")
def test_small_tasks_fill_up_what_large_ones_leave() -> None:
    loads = [Load(size, (), str(n)) for n, size in enumerate([60, 60, 30, 30, 10, 10])]
    assert sorted(sum(loads[at].size for at in one) for one in pack(loads, 100, 3)) == [
        100,
        100,
    ]


@pytest.mark.requirement("P3")
def test_a_task_larger_than_any_room_stands_alone() -> None:
    loads = [Load(500, (), "a"), Load(10, (0,), "b")]
    assert pack(loads, 100, 3) == [[0], [1]]


@pytest.mark.slow  # ten thousand
def test_ten_thousand_tasks_in_a_row_are_batched() -> None:
    loads = [Load(40, (at - 1,) if at else (), str(at)) for at in range(10_000)]
    assert len(pack(loads, 100, 3)) == 5_000


def test_no_tasks_no_batches() -> None:
    assert pack([], 100, 3) == []


def _excess(sizes: tuple[int, ...]) -> Callable[[Sequence[int]], int]:
    return lambda batch: max(0, 2 * sum(sizes[at] for at in batch) - 200)


@pytest.mark.requirement("P4")
@pytest.mark.parametrize(
    ("needs", "specs", "expected"),
    [
        (((), (), ()), 3, [[0], [1, 2]]),
        (((1,), (), ()), 3, [[1, 0], [2]]),  # the first one waits for it
        (((), (), ()), 1, [[0, 1], [2]]),  # no place for another task
    ],
)
def test_a_batch_that_may_compact_gives_a_task_to_a_neighbour_with_room(
    needs: tuple[tuple[int, ...], ...], specs: int, expected: list[list[int]]
) -> None:
    sizes = (90, 20, 30)
    loads = [Load(size, needs[at], str(at)) for at, size in enumerate(sizes)]
    assert relieve([[0, 1], [2]], loads, 120, specs, _excess(sizes)) == expected


@pytest.mark.requirement("P4")
def test_the_parts_of_a_task_stay_where_they_are() -> None:
    loads = [Load(90, (), "a"), Load(20, (), "b"), Load(30, (), "b")]
    assert relieve([[0, 1], [2]], loads, 120, 3, _excess((90, 20, 30))) == [[0, 1], [2]]


@pytest.mark.requirement("P2", "P3")
def test_a_divided_task_does_not_begin_before_another_that_is_listed_first() -> None:
    """A part of the last task would fit beside the first task, and was put there."""
    sizes = ((6, "a"), (54, "b"), (54, "b"), (47, "c"), (47, "c"))
    loads = [Load(size, (), spec) for size, spec in sizes]
    packed = pack(loads, 55, 3)
    assert packed == [[0], [1], [2], [3], [4]]
    assert relieve(packed, loads, 55, 3, lambda batch: 0) == packed


@given(some_loads())
def test_the_parts_of_a_task_stay_together_when_batches_are_relieved(loads: list[Load]) -> None:
    packed = pack(loads, 100, 3)
    found = relieve(packed, loads, 100, 3, lambda batch: 0)
    assert [sorted(batch) for batch in found] == [sorted(batch) for batch in packed]


@given(some_loads())
def test_a_list_is_packed_as_it_stands_unless_that_takes_two_more_batches(
    loads: list[Load],
) -> None:
    found, fewest = pack_as_listed(loads, 100, 3), pack(loads, 100, 3)
    _must_hold(loads, found, 3)
    order = [at for batch in found for at in batch]
    assert found == fewest or (order == sorted(order) and len(found) <= len(fewest) + 1)


@pytest.mark.parametrize(
    ("sizes", "room", "batches"),
    [
        ((40, 40, 40), 100, [[0], [1, 2]]),  # the second and the third fit together
        ((10, 40, 40), 100, [[0, 1, 2]]),
        ((40, 40, 80), 100, [[0, 1], [2]]),  # too large together: right after it
    ],
)
def test_a_task_that_goes_on_with_the_one_before_is_in_its_batch_if_both_fit(
    sizes: tuple[int, ...], room: int, batches: list[list[int]]
) -> None:
    loads = [Load(size, (), str(at), joins=at == 2) for at, size in enumerate(sizes)]
    assert pack_as_listed(loads, room, 3) == batches

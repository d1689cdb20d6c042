from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hub.tree.statuses import ENDED, derive_status, times_after

STATUS = st.sampled_from(("pending", "running", "paused", "blocked", "completed", "failed"))


@pytest.mark.requirement("A1")
@given(st.lists(STATUS, min_size=1, max_size=8))
def test_times_follow_the_statuses_a_row_went_through(statuses: list[str]) -> None:
    row: dict[str, object] = {}
    for now, status in enumerate(statuses):
        row |= times_after(status, now, row)
    began = statuses.index("running") if "running" in statuses else None
    assert row["started_ms"] == began
    if statuses[-1] not in ENDED:
        assert row["completed_ms"] is None
    else:
        same = next(
            (n for n in range(len(statuses) - 1, -1, -1) if statuses[n] != statuses[-1]), -1
        )
        assert row["completed_ms"] == same + 1


@pytest.mark.requirement("A1")
@given(STATUS, st.sets(STATUS), st.booleans())
def test_a_task_follows_its_subtasks_and_then_stays(
    task: str, below: set[str], taken_up: bool
) -> None:
    found = derive_status(task, below, taken_up=taken_up)
    assert derive_status(found, below) == found
    assert not below or (below <= ENDED) == (found in ENDED) or task in ENDED
    if not below and not taken_up:
        assert found == task
    if below == {"completed"}:
        assert found == "completed"


@pytest.mark.requirement("A1", "A6")
@pytest.mark.parametrize(
    ("task", "below", "taken_up", "found"),
    [
        ("pending", {"blocked"}, False, "blocked"),
        ("running", {"blocked"}, False, "blocked"),
        ("running", {"blocked", "completed"}, False, "blocked"),
        ("completed", {"blocked"}, True, "blocked"),
        ("completed", {"blocked"}, False, "completed"),
        ("pending", {"blocked", "running"}, False, "running"),
        ("pending", {"blocked", "pending"}, False, "pending"),
        ("blocked", {"running"}, False, "running"),
        ("blocked", {"pending"}, False, "blocked"),
        ("paused", {"blocked"}, False, "paused"),
    ],
)
def test_a_task_is_blocked_while_all_that_is_left_of_it_is(
    task: str, below: set[str], taken_up: bool, found: str
) -> None:
    assert derive_status(task, below, taken_up=taken_up) == found

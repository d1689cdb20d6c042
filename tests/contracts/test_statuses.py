"""A task made through the API follows its subtasks, and its wave follows its tasks, as in a tree
that was read from transcripts.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hub import cleanup, ids
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import tasks as task_rows
from holdfast.hub.tree import sessions, waves, work
from tests.contracts.trees import NOW, a_request, a_subtask, a_task, told


def _set(store: Store, row: Row, status: str, at: int = NOW + 1) -> None:
    store.write(lambda c: work.change_subtask(c, row["id"], {"status": status}, at))


def _stands(store: Store, task: Row) -> tuple[str, int | None]:
    found = store.read(lambda c: work.get_task(c, task["id"]))
    return found["status"], found["completed_ms"]


def _waves(store: Store) -> list[str]:
    return [row["status"] for row in store.read(lambda c: waves.of_session(c, "s1"))]


@pytest.mark.requirement("A1", "A6")
def test_a_task_is_over_when_its_subtasks_are_and_the_next_wave_starts(store: Store) -> None:
    request = a_request(store)
    first, second = a_task(store, request), a_task(store, request)
    parts = [a_subtask(store, first) for _ in range(2)]
    a_subtask(store, second)
    assert (_stands(store, first), _waves(store)) == (("pending", None), ["pending", "pending"])
    _set(store, parts[0], "running")
    assert (_stands(store, first), _waves(store)) == (("running", None), ["running", "pending"])
    _set(store, parts[0], "completed")
    assert _stands(store, first) == ("running", None)
    _set(store, parts[1], "completed", NOW + 7)
    assert _stands(store, first) == ("completed", NOW + 7)
    assert _waves(store) == ["completed", "running"]
    assert [row["body"]["wave_number"] for row in told(store, "wave.completed")] == [0]
    assert [row["body"]["status"] for row in told(store, "task.changed")] == [
        "running",
        "completed",
    ]


@pytest.mark.requirement("A1", "A6")
def test_one_that_failed_fails_its_task_and_taking_it_up_again_goes_on(store: Store) -> None:
    task = a_task(store, a_request(store))
    good, bad = a_subtask(store, task), a_subtask(store, task)
    _set(store, good, "completed")
    _set(store, bad, "failed", NOW + 3)
    assert (_stands(store, task), _waves(store)) == (("failed", NOW + 3), ["failed"])
    _set(store, bad, "running", NOW + 4)
    assert (_stands(store, task), _waves(store)) == (("running", None), ["running"])
    _set(store, bad, "completed", NOW + 5)
    assert (_stands(store, task), _waves(store)) == (("completed", NOW + 5), ["completed"])
    a_subtask(store, task)
    assert (_stands(store, task), _waves(store)) == (("running", None), ["running"])


@pytest.mark.requirement("A1", "A6")
@pytest.mark.parametrize("by", ["close", "cleanup"])
def test_a_session_that_ends_fails_what_was_under_way_in_it(store: Store, by: str) -> None:
    task = a_task(store, a_request(store))
    a_subtask(store, task, status="running")
    if by == "close":
        store.write(lambda c: work.close_session(c, "s1", NOW + 1))
    else:
        store.write(lambda c: sessions.change(c, "s1", {"ended_ms": NOW + 1}, NOW))
        store.write(lambda c: cleanup.run(c, NOW + 2))
    assert (_stands(store, task), _waves(store)) == (("failed", NOW + 1), ["failed"])


@pytest.mark.requirement("A4", "A6")
def test_subtasks_that_end_at_once_end_their_task_once(store: Store) -> None:
    task = a_task(store, a_request(store))
    parts = [a_subtask(store, task) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda part: _set(store, part, "completed"), parts))
    assert _stands(store, task)[0] == "completed"
    assert len(told(store, "wave.completed")) == 1


@pytest.mark.requirement("A1")
def test_a_task_that_hooks_tell_of_is_left_to_them(store: Store) -> None:
    request = a_request(store)
    row = {
        "id": ids.make_id("task", "told"),
        "request_id": request["id"],
        "name": "Subagents",
        "wave_number": 0,
        "status": "running",
        "created_ms": NOW,
    }
    store.write(lambda c: c.execute(task_rows.insert(), row))
    _set(store, a_subtask(store, row), "completed")
    assert _stands(store, row) == ("running", None)


@pytest.mark.requirement("A1", "A6")
def test_nothing_is_over_while_something_runs_below_it(store: Store) -> None:
    request = a_request(store)
    task = a_task(store, request)
    part = a_subtask(store, task, status="running")
    over = {"status": "completed"}
    assert (
        store.write(lambda c: work.change_task(c, task["id"], over, NOW + 2))["status"] == "running"
    )
    ended = store.write(lambda c: work.change_request(c, request["id"], over, NOW + 3))
    assert ended["status"] == "active"
    assert _waves(store) == ["running"]
    _set(store, part, "completed", NOW + 4)
    assert (_stands(store, task)[0], _waves(store)) == ("completed", ["completed"])
    assert store.read(lambda c: work.get_request(c, request["id"]))["status"] == "completed"

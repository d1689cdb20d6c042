"""Requests, tasks and their waves, on both engines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.tree import projects, waves, work
from tests.contracts.trees import NOW, a_request, a_subtask, a_task, count_of, told


@pytest.mark.requirement("A6", "A4")
def test_tasks_ended_at_once_settle_their_wave_once(store: Store) -> None:
    request = a_request(store)
    first = [a_task(store, request, wave_number=0) for _ in range(8)]
    a_task(store, request, wave_number=1)

    def end(task_id: str) -> None:
        store.write(lambda c: work.change_task(c, task_id, {"status": "completed"}, NOW + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(end, [task["id"] for task in first]))
    assert [row["body"]["wave_number"] for row in told(store, "wave.completed")] == [0]
    assert [row["body"]["wave_number"] for row in told(store, "wave.started")] == [0, 1]


@pytest.mark.requirement("A6")
def test_waves_go_one_after_the_other(store: Store) -> None:
    request = a_request(store)
    first, second = a_task(store, request), a_task(store, request)

    def set_to(task_id: str, status: str, now_ms: int) -> tuple[int, str, int | None] | None:
        store.write(lambda c: work.change_task(c, task_id, {"status": status}, now_ms))
        rows = store.read(lambda c: waves.of_session(c, "s1"))
        found = next((row for row in rows if row["status"] not in waves.ENDED), None)
        return (found["wave_number"], found["status"], found["started_ms"]) if found else None

    assert set_to(first["id"], "pending", NOW) == (0, "pending", None)
    assert set_to(first["id"], "running", NOW + 1) == (0, "running", NOW)
    assert set_to(first["id"], "completed", NOW + 2) == (1, "running", NOW + 2)
    assert set_to(second["id"], "failed", NOW + 3) is None
    found = store.read(lambda c: waves.of_session(c, "s1"))
    assert [(w["status"], w["total_tasks"], w["failed_tasks"]) for w in found] == [
        ("completed", 1, 0),
        ("failed", 1, 1),
    ]
    assert [w["completed_ms"] for w in found] == [NOW + 2, NOW + 3]
    assert store.read(lambda c: waves.of_session(c, "unknown")) == []


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("what", ["request", "task", "project"])
def test_a_branch_goes_with_all_below_it_and_counts_stay_right(store: Store, what: str) -> None:
    request = a_request(store)
    task = a_task(store, request)
    subtask = a_subtask(store, task, agent_type="t", agent_id="a")
    given = {"tool_name": "Edit", "tool_type": "builtin", "subtask_id": subtask["id"]}
    store.write(lambda c: work.add_action(c, given, NOW))
    a_task(store, a_request(store, "other"))
    _project, before = store.read(lambda c: projects.figures(c, request["project_id"]))
    assert [before[f"total_{noun}"] for noun in ("requests", "tasks", "subtasks")] == [2, 2, 1]
    if what == "request":
        store.write(lambda c: work.remove_request(c, request["id"], NOW))
    elif what == "task":
        store.write(lambda c: work.remove_task(c, task["id"], NOW))
    else:
        store.write(lambda c: projects.remove(c, request["project_id"], NOW))
        a_request(store)
    _project, after = store.read(lambda c: projects.figures(c, request["project_id"]))
    left = {"request": [1, 1, 0], "task": [2, 1, 0], "project": [1, 0, 0]}[what]
    assert [after[f"total_{noun}"] for noun in ("requests", "tasks", "subtasks")] == left
    assert count_of(store, "actions") == 0
    assert store.read(lambda c: c.scalar(sa.text("SELECT count(*) FROM agent_contexts"))) == 0


@pytest.mark.requirement("A1", "S3")
def test_every_change_is_told_with_its_place(store: Store) -> None:
    request = a_request(store)
    task = a_task(store, request)
    store.write(lambda c: work.change_task(c, task["id"], {"name": "new"}, NOW))
    store.write(lambda c: work.remove_task(c, task["id"], NOW))
    store.write(lambda c: work.remove_request(c, request["id"], NOW))
    kinds = [row["kind"] for row in told(store) if row["kind"][:4] in ("requ", "task")]
    assert kinds == [
        "request.created",
        "task.created",
        "task.changed",
        "task.removed",
        "request.removed",
    ]
    place = {(row["project_id"], row["session_id"]) for row in told(store, "task")}
    assert place == {(request["project_id"], "s1")}

"""Requests, tasks and their waves, on both engines."""

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.tree import sessions, work
from holdfast.hub.tree.sessions import project_figures, remove_project
from tests.contracts.trees import NOW, a_request, a_subtask, a_task, count_of, told


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("what", ["request", "task", "project"])
def test_a_branch_goes_with_all_below_it_and_counts_stay_right(store: Store, what: str) -> None:
    request = a_request(store)
    task = a_task(store, request)
    subtask = a_subtask(store, task, agent_type="t", agent_id="a")
    given = {"tool_name": "Edit", "tool_type": "builtin", "subtask_id": subtask["id"]}
    store.write(lambda c: sessions.add_action(c, given, NOW))
    a_task(store, a_request(store, "other"))
    _project, before = store.read(lambda c: project_figures(c, request["project_id"]))
    assert [before[f"total_{noun}"] for noun in ("requests", "tasks", "subtasks")] == [2, 2, 1]
    if what == "request":
        store.write(lambda c: work.remove_request(c, request["id"], NOW))
    elif what == "task":
        store.write(lambda c: work.remove_task(c, task["id"], NOW))
    else:
        store.write(lambda c: remove_project(c, request["project_id"], NOW))
        a_request(store)
    _project, after = store.read(lambda c: project_figures(c, request["project_id"]))
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

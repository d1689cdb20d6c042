"""The tree of a project: right, in four queries, and by indexes."""

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import subtasks as subtask_rows
from holdfast.hub.store.tables import tasks as task_rows
from holdfast.hub.tree import work
from tests.contracts.trees import a_request, statements


@pytest.mark.requirement("S2", "A1")
def test_a_tree_of_1000_subtasks_takes_four_queries(store: Store) -> None:
    request = a_request(store)
    many = [
        {"id": f"t{n}", "request_id": request["id"], "name": "t", "wave_number": n, "created_ms": n}
        for n in range(100)
    ]
    parts = [
        {
            "id": f"p{n}",
            "task_id": f"t{n // 10}",
            "session_id": "s1",
            "description": "d",
            "created_ms": n,
        }
        for n in range(1000)
    ]
    store.write(
        lambda c: (c.execute(sa.insert(task_rows), many), c.execute(sa.insert(subtask_rows), parts))
    )
    with statements(store) as sent:
        tree = store.read(lambda c: work.tree_page(c, request["project_id"], 50, 0, 1))
    assert len(sent) <= 3
    [grown] = tree.rows
    assert [task["wave_number"] for task in grown["tasks"]] == list(range(100))
    assert [row["id"] for task in grown["tasks"] for row in task["subtasks"]] == [
        f"p{n}" for n in range(1000)
    ]

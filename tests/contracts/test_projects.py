"""What several tell of one project or request at once is all kept, on both engines."""

from functools import partial

import pytest

from holdfast.hub import ids
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import get_project, list_projects, put_project
from tests.contracts import parallel_threads
from tests.contracts.trees import NOW

MANY = 8
ALL = {f"k{n}": n for n in range(MANY)}


@pytest.mark.requirement("S2", "A4")
def test_a_project_told_of_by_many_at_once_is_one_with_all_they_said(
    store: Store, store_url: str
) -> None:
    puts = [
        partial(put_project, given={"path": "/w/app", "metadata": {key: n}}, now_ms=NOW)
        for key, n in ALL.items()
    ]
    errors = [
        one for one in parallel_threads.threads(store_url, puts) if isinstance(one, Exception)
    ]
    assert errors == []
    assert store.read(lambda c: get_project(c, ids.project_id("/w/app")))["metadata"] == ALL
    assert store.read(lambda c: list_projects(c, 10, 0)).total == 1

"""Claims: of many that want a piece of work, exactly one has it, until it expires."""

import pytest

from holdfast.hub.board import agreements
from holdfast.hub.errors import AlreadyThere
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import put_project
from tests.contracts import parallel_threads

NOW = 1_760_000_000_000


@pytest.fixture
def project_id(store: Store) -> str:
    return str(store.write(lambda c: put_project(c, {"path": "/w/app"}, NOW))["id"])


def _claim(project_id: str, agent_id: str, ttl: int = 3_600) -> Row:
    whose = {"project_id": project_id, "agent_id": agent_id}
    return {**whose, "work": "the tests", "ttl_seconds": ttl}


def take(store: Store, project_id: str, agent_id: str, now_ms: int = NOW, ttl: int = 60) -> Row:
    return store.write(
        lambda c: agreements.take_claim(c, _claim(project_id, agent_id, ttl), now_ms)
    )


@pytest.mark.requirement("A4")
@pytest.mark.parametrize("before", ["nobody", "one whose time is over"])
def test_of_eight_at_once_exactly_one_has_it(
    store: Store, store_url: str, project_id: str, before: str
) -> None:
    if before != "nobody":
        take(store, project_id, before, NOW - 60_000)
    got = parallel_threads.threads(
        store_url,
        [
            lambda c, n=n: agreements.take_claim(c, _claim(project_id, f"{n}"), NOW)  # type: ignore[misc]
            for n in range(8)
        ],
    )
    [winner] = [one["agent_id"] for one in got if isinstance(one, dict)]
    losers = [one for one in got if isinstance(one, AlreadyThere)]
    assert len(losers) == 7
    assert {one.more["agent_id"] for one in losers} == {winner}

"""Requests that are refused among valid ones: a refusal costs nobody else a write."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.hub import ids
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from tests.api.live import in_thread
from tests.api.trees import NOWHERE
from tests.contracts.trees import count_of

pytestmark = [pytest.mark.requirement("S1", "X6")]
ACTION = {"tool_name": "Bash", "tool_type": "builtin", "session_id": "s1", "project_path": "/w/app"}
MESSAGE = {"from_agent": "backend", "topic": "task.completed", "content": {"n": 1}}
Post = Callable[[str, dict[str, Any]], int]
GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "actions": lambda: ACTION,
    "messages": lambda: MESSAGE,
    "sessions": lambda: {"id": ids.new()},
}
REFUSED: dict[str, tuple[str, dict[str, Any], int]] = {
    "a session that is there": ("sessions", {"id": "s1"}, 409),
    "a subtask of an unknown task": ("subtasks", {"task_id": NOWHERE, "description": "x"}, 404),
    "a message about an unknown project": ("messages", {**MESSAGE, "project_id": NOWHERE}, 404),
    "a task of an unknown request": ("tasks", {"request_id": NOWHERE, "name": "x"}, 404),
}
# psycopg prepares a statement when it has run five times since the last rollback
BETWEEN_REFUSALS = 8


def _mixed(post: Post, seed: int) -> Counter[str]:
    """Valid requests with a refused one after every few; how many of each were acknowledged."""
    chosen, acknowledged = random.Random(seed), Counter[str]()
    for _ in range(120):
        noun = chosen.choice(list(GOOD))
        assert post(noun, GOOD[noun]()) == 201, f"after {acknowledged.total()} valid requests"
        acknowledged[noun] += 1
        if chosen.randrange(BETWEEN_REFUSALS) == 0:
            refused, body, status = chosen.choice(list(REFUSED.values()))
            assert post(refused, body) == status
    return acknowledged


def _assert_there(store: Store, acknowledged: Counter[str]) -> None:
    """`s1` was made beforehand."""
    for noun in GOOD:
        assert count_of(store, noun) == acknowledged[noun] + (noun == "sessions")
    assert all(one.ok for one in check(store.engine)), check(store.engine)


@pytest.mark.parametrize("refused", REFUSED)
def test_every_valid_write_after_a_refused_one_is_written(
    api: TestClient, store: Store, refused: str
) -> None:
    noun, body, status = REFUSED[refused]
    done = Counter[str]()
    assert api.post("/api/sessions", json={"id": "s1"}).status_code == 201
    for _ in range(3):
        for good, given in list(GOOD.items()) * BETWEEN_REFUSALS:
            assert api.post(f"/api/{good}", json=given()).status_code == 201
            done[good] += 1
        assert api.post(f"/api/{noun}", json=body).status_code == status
    _assert_there(store, done)


def test_valid_writes_among_refused_ones_are_all_there(api: TestClient, store: Store) -> None:
    assert api.post("/api/sessions", json={"id": "s1"}).status_code == 201
    done = _mixed(lambda noun, body: api.post(f"/api/{noun}", json=body).status_code, seed=1)
    _assert_there(store, done)


@pytest.mark.slow
def test_valid_writes_among_refused_ones_of_many_clients_are_all_there(store: Store) -> None:
    """They wait together, so that one commit holds some of each kind."""
    with in_thread(store) as live, ThreadPoolExecutor(8) as clients:
        assert live.post("/api/sessions", {"id": "s1"}).status == 201
        post = lambda noun, body: live.post(f"/api/{noun}", body).status  # noqa: E731
        done = list(clients.map(lambda seed: _mixed(post, seed), range(8)))
    _assert_there(store, sum(done, Counter()))

"""Subtasks and the agents at work on them, on both engines."""

import pytest
import sqlalchemy as sa

from holdfast.hub.store.rows import Row, rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import agent_contexts
from holdfast.hub.tree import work
from tests.contracts.trees import NOW, a_request, a_subtask, a_task


def _change(store: Store, subtask: Row, now_ms: int = NOW, **given: object) -> Row:
    return store.write(lambda c: work.change_subtask(c, subtask["id"], given, now_ms))


def _agents(store: Store) -> list[tuple[str, str, str]]:
    query = sa.select(agent_contexts).order_by(agent_contexts.c.agent_id)
    found = store.read(lambda c: rows(c, query))
    return [(row["agent_id"], row["status"], row["role_context"]["subtask_id"]) for row in found]


@pytest.mark.requirement("A1")
def test_an_agent_is_known_while_it_is_at_work(store: Store) -> None:
    task = a_task(store, a_request(store))
    one = a_subtask(store, task, agent_type="dev", agent_id="a", status="running")
    two = a_subtask(store, task, now_ms=NOW + 1, agent_type="dev", agent_id="a", status="running")
    a_subtask(store, task, agent_id="untyped", status="running")
    assert _agents(store) == [("a", "running", two["id"])]
    _change(store, two, status="completed")
    assert _agents(store) == [("a", "running", one["id"])]
    _change(store, one, agent_id="b", status="blocked")
    assert _agents(store) == [("b", "blocked", one["id"])]
    _change(store, one, status="failed")
    assert _agents(store) == []


@pytest.mark.requirement("A1", "A4")
def test_one_name_in_two_sessions_is_two_agents(store: Store) -> None:
    made = [
        a_subtask(store, a_task(store, a_request(store, session)), agent_type="dev", agent_id="a")
        for session in ("s1", "s2")
    ]
    assert len(_agents(store)) == 2
    _change(store, made[0], status="completed")
    assert [row[2] for row in _agents(store)] == [made[1]["id"]]

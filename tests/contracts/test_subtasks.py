"""Subtasks and the agents at work on them, on both engines."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store.rows import Page, Row, rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import agent_contexts
from holdfast.hub.tree import subtasks, tasks, waves
from tests.contracts.trees import NOW, a_request, a_subtask, a_task, told


def _change(store: Store, subtask: Row, now_ms: int = NOW, **given: object) -> Row:
    return store.write(lambda c: subtasks.change(c, subtask["id"], given, now_ms))


def _agents(store: Store) -> list[tuple[str, str, str]]:
    query = sa.select(agent_contexts).order_by(agent_contexts.c.agent_id)
    found = store.read(lambda c: rows(c, query))
    return [(row["agent_id"], row["status"], row["role_context"]["subtask_id"]) for row in found]


@pytest.mark.requirement("A1")
def test_running_notes_the_beginning_once_and_ending_the_end(store: Store) -> None:
    subtask = a_subtask(store, a_task(store, a_request(store)))
    assert (subtask["status"], subtask["started_ms"], subtask["blocked_by"]) == (
        "pending",
        None,
        [],
    )
    assert _change(store, subtask, NOW + 1, status="running")["started_ms"] == NOW + 1
    _change(store, subtask, NOW + 2, status="paused")
    _change(store, subtask, NOW + 3, status="running")
    done = _change(store, subtask, NOW + 4, status="completed", result={"files": 2})
    assert (done["started_ms"], done["completed_ms"]) == (NOW + 1, NOW + 4)
    assert store.read(lambda c: subtasks.get(c, subtask["id"])) == done
    assert a_subtask(store, {"id": done["task_id"]}, status="running")["started_ms"] == NOW


@pytest.mark.requirement("A1")
def test_what_it_waits_for_must_exist(store: Store) -> None:
    task = a_task(store, a_request(store))
    first = a_subtask(store, task)
    second = a_subtask(store, task, blocked_by=[first["id"], first["id"]])
    unknown = "00000000-0000-4000-8000-000000000000"
    with pytest.raises(Refused, match="One or more blocking subtask IDs not found"):
        a_subtask(store, task, blocked_by=[first["id"], unknown])
    with pytest.raises(Refused, match="not found"):
        _change(store, second, blocked_by=[unknown])
    with pytest.raises(Refused, match="itself"):
        _change(store, second, blocked_by=[second["id"]])
    with pytest.raises(NotThere, match=f"Task not found: {unknown}"):
        a_subtask(store, {"id": unknown})


@pytest.mark.requirement("A1", "A4")
def test_one_taken_up_anew_takes_its_task_along_though_it_ended_meanwhile(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    task = a_task(store, a_request(store))
    subtask = a_subtask(store, task, status="running")
    hold = waves.hold

    def after_another(connection: Connection, session_id: str) -> dict[int, str]:
        monkeypatch.setattr(waves, "hold", hold)
        other = Store.open(store_url)
        _change(other, subtask, status="completed")
        other.close()
        return hold(connection, session_id)

    monkeypatch.setattr(waves, "hold", after_another)
    _change(store, subtask, status="running")
    assert store.read(lambda c: tasks.get(c, task["id"]))["status"] == "running"


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


@pytest.mark.requirement("A1")
def test_closing_a_session_ends_what_was_under_way_in_it(store: Store) -> None:
    task = a_task(store, a_request(store, "s1"))
    running = a_subtask(store, task, status="running", agent_type="dev", agent_id="a")
    a_subtask(store, task, status="blocked")
    waiting = a_subtask(store, task)
    other = a_subtask(store, a_task(store, a_request(store, "s2")), status="running")
    assert store.write(lambda c: subtasks.close_session(c, "s1", NOW + 1)) == 2
    assert store.write(lambda c: subtasks.close_session(c, "s1", NOW + 2)) == 0
    closed = store.read(lambda c: subtasks.get(c, running["id"]))
    assert (closed["status"], closed["completed_ms"]) == ("failed", NOW + 1)
    assert closed["result"] == {"reason": "session_ended"}
    assert store.read(lambda c: subtasks.get(c, waiting["id"]))["status"] == "pending"
    assert store.read(lambda c: subtasks.get(c, other["id"]))["status"] == "running"
    assert _agents(store) == []
    assert len(told(store, "subtask.changed")) == 2


@pytest.mark.requirement("A1")
def test_lists_are_filtered_and_say_how_many_match(store: Store) -> None:
    task = a_task(store, a_request(store, "s1"))
    elsewhere = a_task(store, a_request(store, "s2"))
    for n in range(3):
        a_subtask(store, task, now_ms=NOW + n, agent_type="dev", parent_agent_id="boss")
    a_subtask(store, elsewhere, status="running", agent_type="test")

    def total(**wanted: Any) -> int:
        page: Page = store.read(partial(subtasks.list_page, limit=2, offset=0, **wanted))
        return page.total

    assert total() == 4
    assert total(session_id="s1") == total(agent_type="dev") == total(is_subagent=True) == 3
    assert total(status="running") == total(is_subagent=False) == total(session_id="s2") == 1
    assert total(task_id=task["id"], status="running") == 0
    page = store.read(lambda c: subtasks.list_page(c, 2, 0, session_id="s1"))
    assert [row["created_ms"] for row in page.rows] == [NOW + 2, NOW + 1]
    page = store.read(lambda c: subtasks.list_page(c, 2, 1, task_id=task["id"]))
    assert [row["created_ms"] for row in page.rows] == [NOW + 1, NOW + 2]

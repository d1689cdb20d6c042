"""What is known of an agent from what clients posted, and what its snapshots hold together."""

from functools import partial

import pytest

from holdfast.hub import ids
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree import contexts, sessions
from tests.contracts.trees import NOW, a_request, a_subtask, a_task


def _context(store: Store, **wanted: str) -> Row:
    [row] = store.read(lambda c: contexts.list_page(c, 9, 0, **wanted)).rows
    return row


@pytest.mark.requirement("S2")
def test_of_two_saves_in_one_millisecond_the_second_is_the_newest(store: Store) -> None:
    for number in range(9):
        words = {"context_summary": f"save {number}"}
        store.write(partial(sessions.save_snapshot, session_id="s1", snapshot=words, now_ms=NOW))
    merged = store.read(lambda c: contexts.latest_snapshot(c, "s1"))
    assert merged and list(merged["summaries"]) == [f"save {n}" for n in range(9)][::-1]


@pytest.mark.requirement("A1", "B3")
def test_a_context_names_the_task_what_it_waits_for_and_the_tools(store: Store) -> None:
    task = a_task(store, a_request(store))
    first = a_subtask(store, task, description="read the gauges")
    part = a_subtask(
        store, task, agent_type="t", agent_id="a", blocked_by=[first["id"]], description="report"
    )
    for tool, kind in (
        ("Bash", "builtin"),
        ("Edit", "builtin"),
        ("Bash", "builtin"),
        ("pdf", "skill"),
    ):
        given = {"tool_name": tool, "tool_type": kind, "subtask_id": part["id"]}
        store.write(lambda c, given=given: sessions.add_action(c, given, NOW))  # type: ignore[misc]
    row = _context(store, agent_id="a")
    role = row["role_context"]
    assert (role["current_task"], role["blockers"]) == ("report", ["read the gauges"])
    assert (row["progress_summary"], role["tool_counts"]) == (
        None,
        {"Bash": 2, "Edit": 1, "pdf": 1},
    )
    assert (row["tools_used"], row["skills_to_restore"]) == (["Bash", "Edit", "pdf"], ["pdf"])


@pytest.mark.requirement("A1")
def test_what_an_agent_reports_stays_until_it_works_on_something_else(store: Store) -> None:
    task = a_task(store, a_request(store))
    a_subtask(store, task, agent_type="t", agent_id="a", now_ms=NOW)
    context_id = ids.context_id("s1", "a")
    told = {"progress": 40, "next_steps": ["the report"], "progress_summary": "two of five"}
    store.write(lambda c: contexts.report(c, context_id, told, NOW + 1))
    store.write(lambda c: contexts.follow(c, "s1", "a", NOW + 2))
    row = _context(store, agent_id="a")
    assert (row["role_context"]["progress"], row["progress_summary"]) == (40, "two of five")
    a_subtask(store, task, agent_type="t", agent_id="a", status="running", now_ms=NOW + 3)
    assert "progress" not in _context(store, agent_id="a")["role_context"]

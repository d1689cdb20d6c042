"""The tree of a project: right, in four queries, and by indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import subtasks as subtask_rows
from holdfast.hub.store.tables import tasks as task_rows
from holdfast.hub.tree import (
    contexts,
    projects,
    sessions,
    waves,
    work,
)
from tests.contracts.trees import NOW, a_request, statements

SESSIONS, EACH = 200, 200
GROWING = {"actions", "requests", "subtasks", "agent_contexts"}
FILL = """
INSERT INTO sessions (id, project_id, started_ms)
SELECT 's' || s, '{project_id}', s FROM generate_series(0, {sessions}) s;

INSERT INTO actions
  (id, session_id, project_id, tool_name, tool_type, output, exit_code, created_ms)
SELECT s || '.' || n, 's' || s, '{project_id}', 'tool' || mod(n, 20),
  (ARRAY['builtin', 'agent', 'skill', 'mcp'])[1 + mod(n, 4)], repeat('x', 200), 0, n
FROM generate_series(0, {sessions}) s, generate_series(0, {each}) n;

INSERT INTO requests (id, project_id, session_id, prompt, prompt_type, status, created_ms)
SELECT s || '.' || n, '{project_id}', 's' || s, repeat('p', 200), 'other',
  (ARRAY['active', 'completed', 'failed', 'running'])[1 + mod(n, 4)], n
FROM generate_series(0, {sessions}) s, generate_series(0, 19) n;

INSERT INTO tasks (id, request_id, name, wave_number, status, created_ms)
SELECT id, id, 't', 0,
  (ARRAY['pending', 'completed', 'failed', 'running'])[1 + mod(created_ms, 4)], created_ms
FROM requests;

INSERT INTO subtasks
  (id, task_id, session_id, description, agent_type, agent_id, parent_agent_id, status, created_ms)
SELECT t.id || '.' || k, t.id, r.session_id, repeat('d', 300), 'type' || k, 'a' || k,
  CASE WHEN k = 1 THEN 'boss' END,
  (ARRAY['pending', 'completed', 'failed', 'running'])[1 + mod(k, 4)], t.created_ms
FROM tasks t JOIN requests r ON r.id = t.request_id, generate_series(0, 9) k;

INSERT INTO projects (id, path, created_ms, updated_ms)
SELECT 'p' || p, '/w/p' || p, p, p FROM generate_series(0, 99) p;

INSERT INTO agent_contexts (id, project_id, agent_id, agent_type, progress_summary, updated_ms)
SELECT p || '.' || n, 'p' || p, 'a', 't', repeat('x', 200), n
FROM generate_series(0, 99) p, generate_series(0, 99) n;
"""


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


@pytest.fixture
def large(postgres_url: str) -> Iterator[Store]:
    """Many sessions with many actions, in one project."""
    store = Store.open(postgres_url)
    project_id = store.write(lambda c: projects.put(c, "/w/app", NOW))["id"]
    fill = FILL.format(project_id=project_id, sessions=SESSIONS - 1, each=EACH - 1)
    store.write(lambda c: [c.exec_driver_sql(one) for one in fill.split(";") if one.strip()])
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    yield store
    store.close()


def _scanned(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for below in plan.get("Plans", []):
        yield from _scanned(below)


@pytest.mark.slow
@pytest.mark.requirement("S2")
def test_no_list_reads_a_table_from_end_to_end(large: Store) -> None:
    project = projects.id_of("/w/app")
    asks = [
        lambda c: work.list_actions(c, 100, 0),
        lambda c: work.list_actions(c, 100, 0, session_id="s7"),
        lambda c: work.list_actions(c, 100, 0, tool_name="tool3"),
        lambda c: work.list_actions(c, 100, 0, tool_type="agent"),
        lambda c: work.list_actions(c, 100, 0, session_id="s7", tool_name="tool3"),
        lambda c: work.list_actions(c, 100, 0, project_id=project, tool_name="tool3"),
        lambda c: contexts.list_page(c, 100, 0, project_id="p7"),
        lambda c: work.hourly(c, 24 * work.HOUR_MS + EACH - 5),
        lambda c: work.list_requests(c, 100, 0),
        lambda c: work.list_requests(c, 100, 0, session_id="s7"),
        lambda c: work.list_requests(c, 100, 0, status="failed"),
        lambda c: work.latest_requests(c, 50, project_id=project),
        lambda c: work.list_tasks(c, 100, 0),
        lambda c: work.list_tasks(c, 100, 0, request_id="7.7"),
        lambda c: work.list_tasks(c, 100, 0, status="running"),
        lambda c: work.list_subtasks(c, 100, 0),
        lambda c: work.list_subtasks(c, 100, 0, task_id="7.7"),
        lambda c: work.list_subtasks(c, 100, 0, session_id="s7"),
        lambda c: work.list_subtasks(c, 100, 0, status="failed"),
        lambda c: work.list_subtasks(c, 100, 0, agent_type="type2"),
        lambda c: work.list_subtasks(c, 100, 0, is_subagent=True),
        lambda c: sessions.agents_at_work(c, 100, 0),
        lambda c: waves.of_session(c, "s7"),
    ]
    with statements(large) as sent:
        for ask in asks:
            large.read(ask)
    looked = [(text, given) for text, given in sent if text.startswith("SELECT")]
    found = []
    with large.engine.connect() as connection:
        for text, given in looked:
            explained = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {text}", given)
            [whole] = explained.scalar_one()
            found += [(name, text) for name in _scanned(whole["Plan"]) if name in GROWING]
    assert len(looked) > len(asks)
    assert found == []

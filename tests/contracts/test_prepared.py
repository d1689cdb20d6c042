"""Queries that are read together by the driver give what SQLAlchemy gives, in fewer steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import StoreError
from holdfast.hub.store.prepared import PreparedQuery, read_together
from holdfast.hub.store.rows import rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions, sessions
from holdfast.hub.tree import agent_contexts, agent_knowledge, projects

FOR_BRIEF = agent_knowledge.KnowledgeQuery(agent_type=False, for_brief=True)
PROJECT = projects.id_of("/tide")
MOST_READS = 11  # of a restore
NAMED = PreparedQuery(
    sa.select(actions)
    .where(actions.c.id.in_(sa.bindparam("wanted", type_=sa.Text, expanding=True)))
    .order_by(actions.c.id)
    .limit(9),
    "wanted",
)
FAILED = PreparedQuery(
    sa.select(actions.c.id, sa.func.length(actions.c.input).label("chars"))
    .where(actions.c.exit_code > sa.bindparam("least", type_=sa.Integer))
    .order_by(actions.c.id)
)


@pytest.fixture
def filled(store: Store) -> Store:
    def fill(connection: sa.Connection) -> None:
        projects.put(connection, "/tide", 1)
        connection.execute(sa.insert(sessions).values(id="s1", project_id=PROJECT, started_ms=1))
        for n in range(6):
            row = {"id": f"a{n}", "session_id": "s1", "project_id": PROJECT, "tool_name": "Edit"}
            more = {"tool_type": "builtin", "input": "x" * n, "exit_code": n, "created_ms": n}
            paths = [f"{n}.py", {"nested": None}] if n else None
            connection.execute(sa.insert(actions).values(**row, **more, file_paths=paths))

    store.write(fill)
    return store


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 6])
def test_rows_read_together_are_those_that_sqlalchemy_reads(filled: Store, count: int) -> None:
    given: dict[str, Any] = {"wanted": [f"a{n}" for n in range(count)], "least": 2}

    def both(connection: sa.Connection) -> tuple[Any, Any]:
        queries = {"named": NAMED, "failed": FAILED}
        together = read_together(connection, queries, given)
        return together, {name: rows(connection, q.query, given) for name, q in queries.items()}

    together, apart = filled.read(both)
    assert together == apart
    assert [row["id"] for row in together["named"]] == given["wanted"]
    assert [row["chars"] for row in together["failed"]] == [3, 4, 5]


def test_a_list_may_grow_and_shrink_from_call_to_call(filled: Store) -> None:
    for count in (5, 2, 6, 1):
        wanted = [f"a{n}" for n in range(count)]
        found = filled.read(partial(read_together, queries={"": NAMED}, given={"wanted": wanted}))
        assert [row["id"] for row in found[""]] == wanted


def test_an_error_is_reported_as_sqlalchemy_reports_it(filled: Store) -> None:
    missing = PreparedQuery(sa.select(sa.column("x")).select_from(sa.table("not_there")))
    with pytest.raises((DBAPIError, StoreError), match="not_there"):
        filled.read(lambda c: read_together(c, {"gone": missing, "failed": FAILED}, {"least": 0}))
    again = filled.read(lambda c: read_together(c, {"failed": FAILED}, {"least": 4}))
    assert [row["id"] for row in again["failed"]] == ["a5"]


def test_numbers_that_only_python_writes_are_read(filled: Store) -> None:
    """Rows of older versions may hold them; PostgreSQL never took them."""
    if not filled.is_sqlite:
        return
    odd = "UPDATE actions SET file_paths = '[NaN]' WHERE id = 'a1'"
    filled.write(lambda c: c.exec_driver_sql(odd) and None)
    found = filled.read(lambda c: read_together(c, {"": NAMED}, {"wanted": ["a1"]}))
    assert str(found[""][0]["file_paths"]) == "[nan]"


def test_a_restore_leaves_its_reading_to_the_driver(filled: Store) -> None:
    """SQLAlchemy took three quarters of the time in which a restore reads."""
    saved = {"active_tasks": [{"id": "t1", "description": "read the gauge", "status": "running"}]}
    filled.write(lambda c: agent_contexts.save_snapshot(c, "s1", saved, 2))
    with _executed(filled) as by_sqlalchemy:
        found, by_sqlite = filled.read(_traced)
    assert found.saved["active_tasks"] == saved["active_tasks"]
    assert by_sqlalchemy == (["BEGIN"] if filled.is_sqlite else [])
    assert len(by_sqlite) <= MOST_READS


def _traced(connection: sa.Connection) -> tuple[agent_knowledge.KnownWork, list[str]]:
    """What a restore reads, and the statements that SQLite was asked for."""
    asked: list[str] = []
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.set_trace_callback(asked.append)
    found = agent_knowledge.find_work(connection, "a", "s1", FOR_BRIEF, 3)
    if isinstance(driver, sqlite3.Connection):
        driver.set_trace_callback(None)
    return found, [one for one in asked if one.startswith("SELECT")]


@contextmanager
def _executed(store: Store) -> Iterator[list[str]]:
    texts: list[str] = []

    def note(_connection: Any, _cursor: Any, text: str, *_more: Any) -> None:
        texts.append(text)

    event.listen(store.engine, "before_cursor_execute", note)
    yield texts
    event.remove(store.engine, "before_cursor_execute", note)

"""A project with some work in it: name what matters, the rest is made up."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from holdfast.hub.store.rows import Row, count, rows
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events, metadata
from holdfast.hub.tree import work
from holdfast.hub.tree.sessions import put_project

NOW = 1_760_000_000_000


def a_request(store: Store, session_id: str = "s1", **more: Any) -> Row:
    def write(connection: sa.Connection) -> Row:
        project = put_project(connection, {"path": "/w/app"}, NOW)
        given = {"project_id": project["id"], "session_id": session_id, "prompt": "do it", **more}
        return work.add_request(connection, given, NOW)

    return store.write(write)


def a_task(store: Store, request: Row, **more: Any) -> Row:
    return store.write(lambda c: work.add_task(c, {"request_id": request["id"], **more}, NOW))


def a_subtask(store: Store, task: Row, *, now_ms: int = NOW, **more: Any) -> Row:
    given = {"task_id": task["id"], "description": "a part", **more}
    return store.write(lambda c: work.add_subtask(c, given, now_ms))


def count_of(store: Store, noun: str) -> int:
    return store.read(lambda c: count(c, metadata.tables[noun]))


def told(store: Store, kind: str = "") -> list[Row]:
    """Events, oldest first."""
    query = sa.select(events).order_by(events.c.id)
    found = store.read(lambda c: rows(c, query))
    return [row for row in found if row["kind"].startswith(kind)]


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """What is sent to the database meanwhile, with its parameters."""
    sent: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        if not statement.startswith("BEGIN"):
            sent.append((statement, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(store.engine, "before_cursor_execute", note)

"""Waiting changes are written together: all of them, in order, without the refused ones."""

import threading
from concurrent.futures import Future, wait
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.board import messages
from holdfast.hub.errors import NotThere
from holdfast.hub.store.store import Store
from holdfast.hub.tree import sessions
from tests.contracts.trees import count_of, told

NOW = 1_770_000_000_000
PATH = "/w/app"


def _act(connection: Connection, **given: Any) -> dict[str, Any]:
    whole = {"tool_name": "Bash", "tool_type": "builtin", "session_id": "s1", **given}
    return sessions.add_action(connection, whole, NOW)


def _post(connection: Connection, project_id: str | None = None) -> None:
    row = messages.draft("a", "task.completed", {"n": 10**30, "of": ["ü", None]}, NOW)
    messages.post(connection, {**row, "project_id": project_id})


def _together(store: Store, *changes: Any) -> list[Future[Any]]:
    """Handed in while the writer is busy."""
    busy, go = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        busy.set()
        go.wait(30)

    first = store.submit(hold)
    assert busy.wait(30)
    futures = [store.submit(change) for change in changes]
    go.set()
    first.result(30)
    wait(futures, 30)
    return futures


@pytest.mark.requirement("S1", "S2")
def test_all_that_is_submitted_together_is_written(store: Store) -> None:
    many = [lambda c: _act(c, project_path=PATH, duration_ms=2) for _ in range(20)]
    futures = _together(store, *many, _post, _post)
    assert [future.exception() for future in futures] == [None] * 22
    session = store.read(lambda c: sessions.get(c, "s1"))
    assert (session["total_tools_used"], session["total_duration_ms"]) == (20, 40)
    assert count_of(store, "actions") == 20
    page = store.read(lambda c: messages.list_page(c, 10, 0))
    assert page.total == 2
    assert page.rows[0]["content"] == {"n": 10**30, "of": ["ü", None]}
    kinds = [row["kind"] for row in told(store)]
    assert kinds.count("action.created") == 20
    assert kinds.count("message.posted") == 2


@pytest.mark.requirement("S1")
def test_one_that_is_refused_leaves_nothing_and_spoils_nothing(store: Store) -> None:
    nowhere = ids.project_id("/nowhere")
    futures = _together(store, _act, lambda c: _post(c, nowhere), _post)
    assert [type(future.exception()) for future in futures] == [type(None), NotThere, type(None)]
    assert store.read(lambda c: messages.list_page(c, 10, 0)).total == 1
    assert [row["kind"] for row in told(store)].count("message.posted") == 1

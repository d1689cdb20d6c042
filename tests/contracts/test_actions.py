"""Actions and the sums they leave in their session, on both engines."""

import pytest

from holdfast.hub import ids
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree import sessions
from holdfast.hub.tree.sessions import project_figures
from tests.contracts.trees import NOW, count_of, told


def _act(store: Store, now_ms: int = NOW, **given: object) -> Row:
    whole = {"tool_name": "Edit", "tool_type": "builtin", **given}
    return store.write(lambda c: sessions.add_action(c, whole, now_ms))


@pytest.mark.requirement("A1")
def test_an_action_adds_to_its_session_and_makes_it_known(store: Store) -> None:
    _act(store, session_id="s1", project_path="/w/app/", duration_ms=40)
    _act(store, NOW + 5, session_id="s1", exit_code=2)
    _act(store, NOW + 3, session_id="s1", duration_ms=60)
    session = store.read(lambda c: sessions.get(c, "s1"))
    sums = [session[name] for name in ("total_tools_used", "total_success", "total_errors")]
    assert sums == [3, 2, 1]
    assert (session["total_duration_ms"], session["timed_actions"]) == (100, 2)
    assert (session["started_ms"], session["seen_ms"]) == (NOW, NOW + 5)
    project, figures = store.read(lambda c: project_figures(c, ids.project_id("/w/app")))
    assert (project["path"], session["project_id"]) == ("/w/app", project["id"])
    assert (figures["total_actions"], figures["avg_duration_ms"]) == (3, 50.0)
    assert len(told(store, "session.started")) == len(told(store, "project.created")) == 1
    assert count_of(store, "actions") == 3


@pytest.mark.requirement("A1")
def test_a_session_keeps_the_project_it_has(store: Store) -> None:
    _act(store, session_id="s1")
    assert store.read(lambda c: sessions.get(c, "s1"))["project_id"] is None
    _act(store, session_id="s1", project_path="/w/a")
    _act(store, session_id="s1", project_path="/w/b")
    assert store.read(lambda c: sessions.get(c, "s1"))["project_id"] == ids.project_id("/w/a")

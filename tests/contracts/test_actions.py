"""Actions and the sums they leave in their session, on both engines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hub.errors import NotThere
from holdfast.hub.store import rows
from holdfast.hub.store.rows import Row
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.tree import actions, projects, sessions, subtasks
from tests.contracts.trees import NOW, a_request, a_subtask, a_task, count_of, statements, told


def _act(store: Store, now_ms: int = NOW, **given: object) -> Row:
    whole = {"tool_name": "Edit", "tool_type": "builtin", **given}
    return store.write(lambda c: actions.add(c, whole, now_ms))


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
    project, figures = store.read(lambda c: projects.figures(c, projects.id_of("/w/app")))
    assert (project["path"], session["project_id"]) == ("/w/app", project["id"])
    assert (figures["total_actions"], figures["avg_duration_ms"]) == (3, 50.0)
    assert len(told(store, "session.started")) == len(told(store, "project.created")) == 1
    assert count_of(store, "actions") == 3


@pytest.mark.requirement("A1", "A4")
def test_actions_told_at_once_are_all_in_the_sums(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: _act(store, NOW + n, session_id="s1"), range(40)))
    session = store.read(lambda c: sessions.get(c, "s1"))
    assert session["total_tools_used"] == session["total_success"] == 40
    assert count_of(store, "sessions") == 1


@pytest.mark.requirement("A1")
def test_a_session_keeps_the_project_it_has(store: Store) -> None:
    _act(store, session_id="s1")
    assert store.read(lambda c: sessions.get(c, "s1"))["project_id"] is None
    _act(store, session_id="s1", project_path="/w/a")
    _act(store, session_id="s1", project_path="/w/b")
    assert store.read(lambda c: sessions.get(c, "s1"))["project_id"] == projects.id_of("/w/a")


@pytest.mark.requirement("A1")
def test_an_action_for_a_subtask_is_one_of_its_session(store: Store) -> None:
    subtask = a_subtask(store, a_task(store, a_request(store, "s9")))
    assert _act(store, subtask_id=subtask["id"])["session_id"] == "s9"
    assert _act(store, subtask_id=subtask["id"], session_id="own")["session_id"] == "own"
    with pytest.raises(NotThere, match="Subtask not found"):
        _act(store, subtask_id="none", session_id="never")
    with pytest.raises(NotThere):
        store.read(lambda c: sessions.get(c, "never"))


@pytest.mark.requirement("S2")
def test_an_action_of_a_known_session_takes_few_statements(store: Store) -> None:
    _act(store, session_id="s1", project_path="/w/app")
    with statements(store) as sent:
        _act(store, session_id="s1", project_path="/w/app")
    in_order = [] if store.is_sqlite else ["SELECT"]
    assert [text.split()[0] for text, _ in sent] == ["UPDATE", "INSERT", *in_order, "INSERT"]


@pytest.mark.requirement("A1")
def test_actions_are_listed_newest_first_by_what_is_asked(store: Store) -> None:
    for n in range(4):
        _act(store, NOW + n, session_id=f"s{n % 2}", tool_name="Read" if n else "Edit")
    _act(store, NOW + 9, tool_name="Task", tool_type="agent", file_paths=["/a"])

    def listed(**wanted: str) -> tuple[list[int], int]:
        page = store.read(lambda c: actions.list_page(c, 2, 0, **wanted))
        return [row["created_ms"] - NOW for row in page.rows], page.total

    assert listed() == ([9, 3], 5)
    assert listed(session_id="s1") == ([3, 1], 2)
    assert listed(session_id="s0", tool_name="Read") == ([2], 1)
    assert listed(tool_name="Read") == ([3, 2], 3)
    assert listed(tool_type="agent") == ([9], 1)


@pytest.mark.requirement("S2")
def test_totals_by_tool_are_kept_when_actions_go(store: Store) -> None:
    subtask = a_subtask(store, a_task(store, a_request(store, "s9")))
    for name in ("Bash", "Bash", "Read"):
        _act(store, subtask_id=subtask["id"], tool_name=name, project_path="/w/other")
    _act(store, tool_name="Bash", project_path="/w/app")
    _act(store, tool_name="Bash")

    def totals() -> list[int]:
        other = {"project_id": projects.id_of("/w/other")}
        asked: list[dict[str, str]] = [{}, {"tool_name": "Bash"}, {"tool_type": "agent"}, other]
        return [
            store.read(lambda c, by=by: actions.list_page(c, 1, 0, **by)).total  # type: ignore[misc]
            for by in asked
        ]

    assert totals() == [5, 4, 0, 3]
    store.write(lambda c: subtasks.remove(c, subtask["id"], NOW))
    assert totals() == [2, 2, 0, 0]
    store.write(lambda c: projects.remove(c, projects.id_of("/w/app"), NOW))
    assert totals() == [1, 1, 0, 0]
    assert [one.words for one in check(store.engine) if not one.ok] == []


@pytest.mark.requirement("S2")
def test_a_total_nobody_keeps_is_counted_only_so_far(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_COUNTED", 3)
    for _ in range(5):
        _act(store, session_id="s1")
    asked = store.read(lambda c: actions.list_page(c, 2, 3, session_id="s1"))
    assert (asked.total, len(asked.rows)) == (3, 2)


@pytest.mark.requirement("S2")
def test_hours_and_tools_are_counted(store: Store) -> None:
    hour = actions.HOUR_MS
    start = NOW - NOW % hour
    for at in (start, start + 5, start + hour, start - 30 * hour):
        _act(store, at, session_id="s1")
    _act(store, start, tool_name="Task", tool_type="agent")
    found = store.read(lambda c: actions.hourly(c, start + hour + 9))
    assert [row["count"] for row in found] == [3, 1]
    assert found[0]["hour"].endswith(":00:00.000Z")
    found = store.read(lambda c: actions.hourly(c, start + hour + 9, "s1"))
    assert [row["count"] for row in found] == [2, 1]
    tools = store.read(lambda c: actions.top_tools(c, 10))
    assert [(tool["tool_name"], tool["count"]) for tool in tools] == [("Edit", 4), ("Task", 1)]
    tools = store.read(lambda c: actions.top_tools(c, 10, "agent"))
    assert [tool["tool_name"] for tool in tools] == ["Task"]


@pytest.mark.requirement("S2")
@pytest.mark.parametrize(
    ("text", "paths", "found"),
    [
        (None, [], []),
        ("the and for", [], []),
        ("Edit the edit", ["/src/app.py"], ["edit", "src", "app"]),
        ("ab 12 __", [], []),
    ],
)
def test_words_that_mean_something_are_found_once(
    text: str | None, paths: list[str], found: list[str]
) -> None:
    assert actions.keywords(text, paths) == found


@pytest.mark.requirement("S2")
def test_never_more_than_ten_words_are_found() -> None:
    assert len(actions.keywords(" ".join(f"word{chr(97 + n)}" for n in range(26)), [])) == 10

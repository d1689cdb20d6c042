import pytest
from starlette.testclient import TestClient

from tests.api.trees import post

EDIT = {"tool_name": "Edit", "tool_type": "builtin"}


@pytest.mark.requirement("S2")
def test_an_action_is_answered_with_what_clients_read(api: TestClient) -> None:
    action = post(
        api,
        "action",
        **EDIT,
        input="Edit the migration for tokens",
        file_paths=["/app/create.php"],
        duration_ms=150,
        session_id="s1",
        project_path="/w/app/",
    )
    assert set(action) == {
        "id",
        "tool_name",
        "tool_type",
        "exit_code",
        "duration_ms",
        "created_at",
        "session_id",
        "keywords_extracted",
    }
    assert (action["exit_code"], action["session_id"]) == (0, "s1")
    assert action["keywords_extracted"] == 6
    [kept] = api.get("/api/actions").json()["actions"]
    assert kept["keywords"] == ["edit", "migration", "tokens", "app", "create", "php"]
    assert kept["keywords_extracted"] == 6
    found = api.get("/api/projects/by-path", params={"path": "/w/app"})
    assert found.status_code == 200
    session = api.get("/api/sessions/s1").json()
    assert (session["project_id"], session["total_success"]) == (found.json()["id"], 1)


@pytest.mark.requirement("S2")
def test_a_session_filter_filters_and_rows_tell_their_session(api: TestClient) -> None:
    for n in range(3):
        post(api, "action", **EDIT, session_id=f"s{n % 2}")
    post(api, "action", tool_name="Task", tool_type="agent")
    page = api.get("/api/actions", params={"session_id": "s0", "limit": 1}).json()
    assert (page["count"], page["total"], page["limit"]) == (1, 2, 1)
    assert [row["session_id"] for row in page["actions"]] == ["s0"]
    assert api.get("/api/actions", params={"tool_type": "agent"}).json()["total"] == 1
    assert api.get("/api/actions", params={"tool_name": "Edit"}).json()["total"] == 3
    assert api.get("/api/actions").json()["total"] == 4
    assert api.get("/api/actions", params={"limit": 9_999}).json()["limit"] == 5_000
    assert api.get("/api/actions", params={"limit": "abc"}).status_code == 400


@pytest.mark.requirement("S2")
@pytest.mark.parametrize("odd", [{"tool_type": "odd"}, {"duration_ms": -1}, {"input": "a\x00b"}])
def test_an_action_that_does_not_fit_names_the_field(
    api: TestClient, odd: dict[str, object]
) -> None:
    answer = api.post("/api/actions", json={**EDIT, **odd})
    assert answer.status_code == 400
    assert set(answer.json()["details"]) == set(odd)


@pytest.mark.requirement("S2")
def test_hours_and_tools_are_told(api: TestClient) -> None:
    post(api, "action", **EDIT)
    hours = api.get("/api/actions/hourly").json()
    assert (hours["period"], [hour["count"] for hour in hours["data"]]) == ("24h", [1])
    tools = api.get("/api/actions/top-tools", params={"limit": 3}).json()
    assert tools == {"data": [{**EDIT, "count": 1}], "limit": 3}

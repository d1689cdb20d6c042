"""No secret reaches the database by way of a name, a key, or what lies below a key."""

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from holdfast.hub.store import tables
from holdfast.hub.store.rows import rows
from holdfast.hub.store.store import Store
from tests.api.trees import post

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.mark.requirement("X4")
def test_a_name_that_is_a_secret_is_refused(api: TestClient) -> None:
    action = {"tool_name": "Bash", "tool_type": "builtin", "session_id": "s1", "agent_id": "a"}
    for name in ("tool_name", "session_id", "agent_id"):
        refused = api.post("/api/actions", json={**action, name: TOKEN})
        assert refused.json()["details"] == {name: ["Value error, must not hold a secret"]}
    usual = {"session_id": "0b5c4f5e-6f8e-4c57-9a6b-1f0f6f1d2c3b", "agent_id": "a" + "0f3c9b" * 6}
    assert api.post("/api/actions", json={**action, **usual}).status_code == 201


@pytest.mark.requirement("X4")
def test_claimed_work_is_cleaned_and_still_released_by_the_same_words(api: TestClient) -> None:
    claim = {"project_id": post(api, "project", path="/w/app")["id"], "agent_id": "a"}
    words = {**claim, "work": f"rotate {TOKEN}"}
    assert TOKEN not in api.post("/api/claims", json=words).text
    assert TOKEN not in api.get("/api/claims").text
    assert api.delete("/api/claims", params=words).status_code == 200


@pytest.mark.requirement("X4")
@pytest.mark.parametrize("name", ["input", "output", "file_paths"])
def test_a_secret_in_one_text_of_an_action_is_taken_out_of_that_text_alone(
    api: TestClient, store: Store, name: str
) -> None:
    texts = {"input": "make test", "output": "3 passed", "file_paths": ["/w/a.py", "/w/b.py"]}
    told = [f"/w/{TOKEN}"] if name == "file_paths" else f"export KEY={TOKEN}"
    action = {"tool_name": "Bash", "tool_type": "builtin", **texts, name: told}
    assert api.post("/api/actions", json=action).status_code == 201
    [row] = store.read(lambda c: rows(c, sa.select(tables.actions)))
    assert TOKEN not in str(row) and "redacted" in str(row[name])
    assert {one: row[one] for one in texts if one != name} == {
        one: text for one, text in texts.items() if one != name
    }

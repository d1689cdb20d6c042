"""Checkpoints of this machine: listed, compared, verified and saved over the interface."""

import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.contracts.session_script import ScriptedSession


@pytest.fixture
def script(tmp_path: Path) -> ScriptedSession:
    project = tmp_path / "tide"
    project.mkdir()
    return ScriptedSession(tmp_path, project=str(project))


def _saved(api: TestClient, **given: Any) -> dict[str, Any]:
    answer = api.post("/api/checkpoints", json={"session_id": "s1", **given})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.mark.requirement("U5", "S2")
def test_a_checkpoint_is_saved_listed_and_shown_whole(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt("Build the tide tables")
    script.call(
        "Edit", {"file_path": f"{script.project}/a.py", "old_string": "1", "new_string": "2"}
    )
    sync(store)
    made = _saved(api)
    page = api.get("/api/checkpoints").json()
    [row] = page["checkpoints"]
    assert (row["id"], row["iteration"], row["trigger"]) == (made["id"], 1, "manual")
    assert row["verified"] and row["project"] == script.project
    assert row["used_ratio"] == round(30 / 167_000, 4)
    whole = api.get(f"/api/checkpoints/{made['id']}").json()
    assert whole["verified"] and "Build the tide tables" in whole["text"]
    here = {"project_id": row["project_id"], "session_id": "s1"}
    assert api.get("/api/checkpoints", params=here).json()["total"] == 1
    assert api.get("/api/checkpoints", params={"session_id": "s2"}).json()["total"] == 0
    assert api.get("/api/checkpoints", params={"agent": "a1"}).json()["total"] == 0


@pytest.mark.requirement("U5", "S2")
def test_two_checkpoints_are_compared_and_the_first_has_nothing_before_it(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt("Build the tide tables")
    script.call()
    sync(store)
    first = _saved(api)["id"]
    script.lists("read the gauge file", 1)
    second = _saved(api)["id"]
    found = api.get("/api/checkpoints/diff", params={"newer": second}).json()
    assert (found["older"]["id"], found["newer"]["id"]) == (first, second)
    added = [item for one in found["sections"] for item in one["added"]]
    assert any("read the gauge file" in item for item in added)
    assert any(one["unchanged"] for one in found["sections"])
    other_way = {"older": second, "newer": first}
    back = api.get("/api/checkpoints/diff", params=other_way).json()
    removed = [item for one in back["sections"] for item in one["removed"]]
    assert any("read the gauge file" in item for item in removed)
    alone = api.get("/api/checkpoints/diff", params={"newer": first}).json()
    assert alone["older"] is None
    assert not any(one["removed"] or one["unchanged"] for one in alone["sections"])
    assert api.get("/api/checkpoints").json()["checkpoints"][0]["parent"] == first


@pytest.mark.requirement("U5", "S2")
def test_a_changed_file_is_said_to_be_changed(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt("Build the tide tables")
    script.call()
    sync(store)
    made = _saved(api)
    path = Path(made["path"])
    path.write_text(path.read_text().replace("Build", "Burn"))
    whole = api.get(f"/api/checkpoints/{made['id']}").json()
    assert not whole["verified"] and whole["findings"][0]["words"]
    assert not api.get("/api/checkpoints").json()["checkpoints"][0]["verified"]


@pytest.mark.requirement("S2", "X5")
def test_only_what_the_index_names_is_opened(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    for path in ("..%2F..%2Fetc%2Fpasswd", "nothing", "a.md"):
        assert api.get(f"/api/checkpoints/{path}").status_code in (400, 404)
    assert api.get("/api/checkpoints/diff", params={"newer": "/etc/passwd"}).status_code == 400
    nobody = api.post("/api/checkpoints", json={"session_id": "nobody"})
    assert nobody.status_code == 404


@pytest.mark.requirement("U5", "S2")
def test_a_folder_whose_name_is_not_utf_8_takes_no_page_from_the_others(
    api: TestClient, store: Store, script: ScriptedSession, tmp_path: Path
) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/ab\xffc")  # sorts before "tide"
    Path(odd).mkdir()
    other = ScriptedSession(tmp_path, "s2", odd)
    for one in (script, other):
        one.prompt("Where do the mareograph readings come from?")
        one.call()
    sync(store)
    _saved(api)
    made = _saved(api, session_id="s2")
    page = api.get("/api/checkpoints").json()
    rows = {one["session_id"]: one for one in page["checkpoints"]}
    assert sorted(rows) == ["s1", "s2"] and rows["s2"]["project"].endswith("/ab?c")
    here = {"project_id": rows["s2"]["project_id"]}
    assert api.get(f"/api/projects/{here['project_id']}").status_code == 200
    assert api.get("/api/checkpoints", params=here).json()["total"] == 1
    newer = {**here, "newer": made["id"]}
    assert api.get("/api/checkpoints/diff", params=newer).status_code == 200
    assert api.get(f"/api/checkpoints/{made['id']}", params=here).json()["verified"]
    asked = {"q": "mareograph", "keyword": "true"}
    api.get("/api/search", params={**asked, "project_id": rows["s1"]["project_id"]})
    found = api.get("/api/search", params=asked)
    assert found.status_code == 200, found.text
    assert {one["session"] for one in found.json()["results"]} == {"s1"}
    assert any("not UTF-8" in note for note in found.json()["notes"])

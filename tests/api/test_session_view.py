"""The turns of a session and what stands now, as its record tells them."""

import subprocess
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.budget import ledger
from holdfast.hub import row_times
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.tree import readings
from tests.contracts.session_script import ScriptedSession
from tests.dashboard.machine import LiveSession


@pytest.fixture
def script(store: Store, tmp_path: Path) -> ScriptedSession:
    script = ScriptedSession(tmp_path)
    script.prompt("Build the tide tables")
    script.call("Edit", {"file_path": "/p/tide/a.py", "old_string": "1", "new_string": "2"})
    script.lists("read the gauge file", 1)
    script.compacts()
    script.prompt("Run the tests")
    script.call("Bash", {"command": "pytest tests"}, "FAILED test_a: 1 failed", failed=True)
    script.says("One test fails.")
    sync(store)
    return script


@pytest.mark.requirement("U5", "S2")
def test_turns_are_told_newest_first_with_what_came_of_them(
    api: TestClient, script: ScriptedSession
) -> None:
    page = api.get("/api/sessions/s1/turns").json()
    assert page["is_available"] and page["note"] is None and page["total"] == 2
    newest, first = page["turns"]
    assert (newest["number"], newest["asked"]) == (2, "Run the tests")
    assert (newest["window"], first["window"]) == (2, 1)
    assert newest["said"] == "One test fails."
    assert (first["step"], first["steps"], newest["step"], newest["steps"]) == (1, 2, 3, 2)
    assert first["edited"] and newest["tokens_added"] == 0
    second = api.get("/api/sessions/s1/turns", params={"limit": 1, "offset": 1}).json()
    assert [one["number"] for one in second["turns"]] == [1]


@pytest.mark.requirement("U5", "S2")
def test_the_state_tells_what_is_open_what_fails_and_which_rules_hold(
    api: TestClient, script: ScriptedSession
) -> None:
    ledger.pin("Heights are whole centimetres", now_ms=1, project=script.project, by="user")
    found = api.get("/api/sessions/s1/state").json()
    [task] = found["tasks"]
    assert (task["text"], task["turn"], task["step"]) == ("read the gauge file", 1, 2)
    [failure] = found["failures"]
    assert (failure["command"], failure["turn"]) == ("pytest tests", 2)
    assert found["rules"][0]["text"] == "Heights are whole centimetres"
    assert found["rules"][0]["turn"] is None
    assert [one["turn"] for one in found["rules"][1:]] == [2, 1]  # what was typed, newest first
    assert any(one["path"].endswith("a.py") and one["edits"] for one in found["files"])
    assert found["call"] is None and found["step"] == 4
    script.prompt("and now?")
    script.answer([{"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls"}}])
    assert api.get("/api/sessions/s1/state").json()["call"] is None  # nobody waits for it any more
    script.note(at_ms=row_times.now_ms())
    call = api.get("/api/sessions/s1/state").json()["call"]
    assert (call["tool"], call["what"], call["step"]) == ("Bash", "ls", 5)


@pytest.mark.requirement("U5")
def test_short_words_are_shown_with_what_they_answer_also_without_the_transcript(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.says("Two ways are left.\nShall I **round** down?")
    script.prompt("yes, do it")
    script.says("Rounded.")
    script.prompt("Thanks")
    script.says("Done.")
    script.prompt("Write the legend of the tables")
    sync(store)
    expected = ["", "Rounded.", "Shall I **round** down?", "", ""]
    for _ in range(2):
        turns = api.get("/api/sessions/s1/turns").json()["turns"]
        assert [one["answers"] for one in turns][: len(expected)] == expected
        if script.transcript.exists():
            rules = api.get("/api/sessions/s1/state").json()["rules"]
            assert [one["answers"] for one in rules][: len(expected)] == expected
            script.transcript.unlink()


@pytest.mark.requirement("U5")
def test_words_that_left_the_queue_do_not_wait_for_ever(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    def queue(operation: str, **more: str) -> None:
        line = {"type": "queue-operation", "operation": operation, "version": "2.0.0"}
        script.write({**line, **more})

    script.write({"type": "system", "version": "2.0.0"})
    queue("enqueue", content="then draw the map")
    sync(store)
    assert api.get("/api/sessions/s1/turns").json()["turns"][0]["waits"]
    queue("remove")
    script.call()
    script.says("The map is drawn.")
    newest = api.get("/api/sessions/s1/turns").json()["turns"][0]
    assert (newest["asked"], newest["waits"]) == ("then draw the map", False)


@pytest.mark.requirement("U5")
def test_what_a_turn_added_is_the_same_days_later(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    past = LiveSession(tmp_path / "past", "s7", str(tmp_path / "tide"), minutes=3 * 24 * 60)
    for steps in (33, 45):
        past.prompt("Build the tide tables of one more harbour")
        for _ in range(steps):
            past.used += 1_000
            past.call()
    sync(store)
    before = api.get("/api/sessions/s7/turns").json()["turns"]
    assert [turn["tokens_added"] for turn in before] == [45_000, 32_000]
    store.write(lambda connection: readings.prune(connection, row_times.now_ms(), ["s7"]))
    assert api.get("/api/sessions/s7/turns").json()["turns"] == before


@pytest.mark.requirement("U5", "S2")
def test_without_its_transcript_a_session_is_told_by_its_requests(
    api: TestClient, script: ScriptedSession
) -> None:
    script.transcript.unlink()
    page = api.get("/api/sessions/s1/turns").json()
    assert not page["is_available"] and "not there any more" in page["note"]
    assert [one["asked"] for one in page["turns"]] == ["Run the tests", "Build the tide tables"]
    assert page["turns"][0]["step"] is None
    found = api.get("/api/sessions/s1/state").json()
    assert not found["is_available"] and found["tasks"] == []


@pytest.mark.requirement("S2", "X5")
def test_of_a_session_of_another_machine_no_path_is_opened(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    api.post("/api/sessions", json={"id": "far"})
    for part in ("turns", "state"):
        found = api.get(f"/api/sessions/far/{part}").json()
        assert not found["is_available"] and "not on this machine" in found["note"]
        assert api.get(f"/api/sessions/nobody/{part}").status_code == 404


@pytest.mark.requirement("U5", "X7")
def test_the_diff_of_an_edited_file_is_the_one_that_git_has(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    project = tmp_path / "tide"
    project.mkdir()
    (project / "a.py").write_text("high = 1\n")
    git = ("git", "-C", str(project), "-c", "user.name=t", "-c", "user.email=t@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], check=True)
    (project / "a.py").write_text("high = 2\n")
    script = ScriptedSession(tmp_path / "t", "s1", str(project))
    script.prompt("Build the tide tables")
    script.call("Edit", {"file_path": f"{project}/a.py", "old_string": "1", "new_string": "2"})
    sync(store)
    [file] = api.get("/api/sessions/s1/state").json()["files"]
    found = api.get("/api/sessions/s1/diff", params={"path": file["path"]}).json()
    assert "-high = 1\n+high = 2" in found["diff"] and found["since"] == "the last commit"
    subprocess.run([*git, "commit", "-qam", "second"], check=True)
    found = api.get("/api/sessions/s1/diff", params={"path": file["path"]}).json()
    assert "second" in found["diff"] and found["since"] == "its last commit"
    other = api.get("/api/sessions/s1/diff", params={"path": "/etc/passwd"})
    assert other.status_code == 404, "only what the session edited is asked for"

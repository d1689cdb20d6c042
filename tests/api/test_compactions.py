"""What a compaction cost and what was restored, as a page shows it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.window import audit
from holdfast.window.audit import FREED
from tests.builders import a_boundary, a_summary
from tests.contracts.session_script import START_MS, ScriptedSession, stamp

RULE = "Never write into the gauge archive, only into tide_tables"
ASKED = "Please round every height to whole centimetres"


def _compacted(tmp_path: Path, summary: str) -> ScriptedSession:
    script = ScriptedSession(tmp_path)
    first = {"type": "user", "uuid": "u-0", "parentUuid": None, "promptId": "prompt-0"}
    script.write({**first, "message": {"role": "user", "content": RULE}})
    script.call(answer="3 files")
    script.prompt(ASKED)
    script.call("Bash", {"command": "pytest tests/tides"}, "1 failed", failed=True)
    _compacts(script, summary)
    return script


def _compacts(script: ScriptedSession, summary: str) -> None:
    for line in (a_boundary(), a_summary(summary)):
        script.write({**line, "timestamp": stamp(script.now_ms), "uuid": f"c-{script.now_ms}"})


@pytest.mark.requirement("B10", "U5", "S2")
def test_a_compaction_says_how_much_its_summary_holds_and_what_would_come_back(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    _compacted(tmp_path, f"The user said: “{ASKED}”. Work goes on.")
    sync(store)
    found = api.get("/api/compactions/s1/1").json()
    assert (found["number"], found["total"], found["step"]) == (1, 1, 2)
    assert found["is_available"] and not found["was_given"] and found["note"] is None
    asked = [one for one in found["items"] if one["kind"] == "request"]
    assert [one["is_found"] for one in asked] == [False, True]
    rule, quoted = asked
    assert RULE in rule["text"] and ASKED in quoted["text"] and quoted["share"] == 1
    assert (rule["turn"], rule["restored_in"]) == (1, "brief")
    assert RULE in found["brief"][rule["line"]]["line"]
    assert found["brief"][rule["line"]]["reason"]
    counts = found["counts"]
    assert (counts["items"], counts["not_found"]) == (3, 2) and counts["restored"] == 2
    assert ASKED in found["summary"] and RULE in found["instructions"]
    parts = found["parts"]
    assert parts["restored_tokens"] == 0 < parts["brief_tokens"], "nothing was restored"
    assert sum(parts.values()) - parts["brief_tokens"] == found["after_tokens"]


@pytest.mark.requirement("B10", "U5", "S2")
def test_compactions_are_listed_newest_first_with_what_the_hooks_noted(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    script = _compacted(tmp_path, "Work goes on.")
    script.call()
    _compacts(script, "Still at work.")
    freed = {"event": FREED, "at_ms": START_MS + script.now_ms, "session_id": "s1", "agent_id": ""}
    audit.add({**freed, "number": 2, "not_found": 5, "restored": 4})
    sync(store)
    page = api.get("/api/compactions", params={"session_id": "s1"}).json()
    assert [one["number"] for one in page["compactions"]] == [2, 1] and page["total"] == 2
    newest, first = page["compactions"]
    assert (newest["not_found"], newest["restored"], first["not_found"]) == (5, 4, None)
    assert (newest["trigger"], newest["edge_tokens"]) == ("auto", 167_000)
    project = {"project_id": newest["project_id"]}
    assert api.get("/api/compactions", params={**project, "limit": 1}).json()["count"] == 1
    elsewhere = {"project_id": "00000000-0000-4000-8000-000000000000"}
    assert api.get("/api/compactions", params=elsewhere).json()["compactions"] == []


@pytest.mark.requirement("B10", "S2")
def test_without_its_transcript_a_compaction_is_told_as_far_as_the_hooks_told_it(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    script = _compacted(tmp_path, "Work goes on.")
    freed = {"event": FREED, "at_ms": START_MS + script.now_ms, "session_id": "s1", "agent_id": ""}
    audit.add({**freed, "number": 1, "not_found": 2})
    sync(store)
    script.transcript.unlink()
    found = api.get("/api/compactions/s1/1").json()
    assert not found["is_available"] and "not there any more" in found["note"]
    assert found["counts"] == {"items": None, "not_found": 2, "restored": None}
    assert found["summary"] is None
    script.note(transcript="")
    assert "not on this machine" in api.get("/api/compactions/s1/1").json()["note"]


@pytest.mark.requirement("S2", "X5")
def test_what_is_no_compaction_is_404_and_secrets_do_not_come_out(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt("the token is ghp_" + "a1B2" * 9 + " keep it")
    script.call()
    _compacts(script, "The user gave ghp_" + "a1B2" * 9)
    sync(store)
    answer = api.get("/api/compactions/s1/1")
    assert answer.status_code == 200 and "a1B2a1B2" not in answer.text
    for path in ("s1/2", "nobody/1"):
        assert api.get(f"/api/compactions/{path}").status_code == 404
    for path in ("s1/0", "s1/x"):
        assert api.get(f"/api/compactions/{path}").status_code == 400

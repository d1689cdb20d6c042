"""Every window at one look, and what listeners are told when one changes."""

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.window import audit
from holdfast.window.audit import FREED
from tests.contracts import session_script as telling
from tests.contracts.session_script import ScriptedSession


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedSession:
    """A session that is at work now."""
    monkeypatch.setattr(telling, "START_MS", int(time.time() * 1000) - 60_000)
    return ScriptedSession(tmp_path)


def _events(api: TestClient, kind: str) -> list[dict[str, Any]]:
    found = api.get(
        "/api/events", params={"kind": kind, "limit": 1000}, headers={"Accept": "application/json"}
    ).json()
    return list(found["events"])


@pytest.mark.requirement("U5", "S2")
def test_a_window_is_told_with_its_project_its_last_request_and_its_last_steps(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt("build  the\ntide tables")
    script.call()
    script.works("a1")
    script.note(model="claude-sonnet-4-6", checkpoint_trigger="guard", compactions=2)
    sync(store)
    found = api.get("/api/context/health").json()["agents"]
    main = next(one for one in found if one["is_main"])
    assert (main["asked"], main["project_path"]) == ("build the tide tables", "/p/tide")
    assert main["title"] == "build the tide tables"
    assert (main["edge_tokens"], main["checkpoint_trigger"]) == (167_000, "guard")
    assert main["compactions"] == 2 and main["machine"]
    assert main["trend"] == [round(30 / 167_000, 4)] * 2
    project = main["project_id"]
    assert api.get("/api/context/health", params={"project_id": project}).json()["count"] == 1
    nowhere = "00000000-0000-4000-8000-000000000000"
    assert api.get("/api/context/health", params={"project_id": nowhere}).json()["count"] == 0


@pytest.mark.requirement("U5", "S2")
def test_listeners_hear_of_alerts_and_of_checked_summaries_once(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt()
    sync(store)
    script.alerts()
    freed = {"event": FREED, "at_ms": telling.START_MS, "session_id": "s1", "agent_id": ""}
    audit.add({**freed, "number": 1, "not_found": 4, "restored": 3})
    sync(store)
    sync(store)
    [alert] = _events(api, "alert.raised")
    assert (alert["session_id"], alert["body"]["level"]) == ("s1", "warning")
    assert alert["project_id"]
    [brief] = _events(api, "brief.given")
    assert brief["body"] == {"agent_id": "", "number": 1, "not_found": 4, "restored": 3}

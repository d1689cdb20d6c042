"""Every window at one look, and what listeners are told when one changes."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.watcher import loop
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
        "/api/events",
        params={"kind": kind, "limit": 1000},
        headers={"Accept": "application/json"},
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
def test_a_change_of_a_window_carries_its_reading(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt()
    script.note(model="claude-sonnet-4-6")
    sync(store)
    [event] = _events(api, "window.changed")
    assert (event["session_id"], event["body"]["agent_id"]) == ("s1", "")
    assert event["project_id"] and event["body"]["edge_tokens"] == 167_000
    shown = {"used_tokens", "used_ratio", "zone", "alert", "estimated", "compacting", "ops_left"}
    assert shown <= event["body"].keys()


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


@pytest.mark.requirement("U5", "S2")
def test_a_compaction_that_begins_and_ends_is_told_at_once(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt()
    script.call()
    noted = {"compacting_ms": int(time.time() * 1000), "compacting_answer": _last_answer(script)}
    script.note(**noted)
    sync(store)
    script.compacts()
    script.says("going on")
    script.note(**noted, compactions=1)
    sync(store)
    begun, ended = (one["body"]["compacting"] for one in _events(api, "window.changed"))
    assert (begun, ended) == (True, False)


def _last_answer(script: ScriptedSession) -> str:
    lines = map(json.loads, script.transcript.read_text().splitlines())
    return str([one["message"]["id"] for one in lines if one["type"] == "assistant"][-1])


@pytest.mark.requirement("U5")
def test_a_session_keeps_the_title_of_its_first_request(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    for words in ("build the tide tables", "now the legend"):
        script.prompt(words)
        script.call()
    script.note()
    sync(store)
    [main] = api.get("/api/context/health").json()["agents"]
    assert (main["title"], main["asked"]) == ("build the tide tables", "now the legend")
    [listed] = api.get("/api/sessions").json()["sessions"]
    assert listed["title"] == "build the tide tables"


@pytest.mark.requirement("U5")
def test_the_totals_of_a_day_are_those_of_the_chosen_project(
    api: TestClient, store: Store, script: ScriptedSession
) -> None:
    script.prompt()
    script.call()
    script.note()
    script.compacts()
    freed = {"event": FREED, "at_ms": telling.START_MS, "session_id": "s1", "agent_id": ""}
    audit.add({**freed, "number": 1, "items": 5, "not_found": 3, "restored": 2})
    sync(store)
    [main] = api.get("/api/context/health").json()["agents"]
    nowhere = "00000000-0000-4000-8000-000000000000"
    mine = api.get("/api/today", params={"project_id": main["project_id"]}).json()
    other = api.get("/api/today", params={"project_id": nowhere}).json()
    assert mine == api.get("/api/today").json() | {"since": mine["since"]}
    counted = ("live_windows", "checked", "not_found", "restored")
    assert [mine[name] for name in counted] == [1, 1, 3, 2]
    assert [other[name] for name in counted] == [0, 0, 0, 0]


@pytest.mark.requirement("U5")
def test_a_server_tells_its_database_and_who_watches(api: TestClient, store: Store) -> None:
    found = api.get("/api/server").json()
    assert found["watcher"] is None
    assert found["database"]["engine"] in ("SQLite", "PostgreSQL")
    assert store.engine.url.database in found["database"]["name"]
    held = loop.take_lock("serve", 1_000)
    assert held is not None
    told = api.get("/api/server").json()["watcher"]
    os.close(held)
    assert (told["inside"], told["since"]) == ("serve", "1970-01-01T00:00:01.000Z")
    assert "inside serve" in told["words"]

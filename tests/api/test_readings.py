"""How full a window was, as a page draws it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.tree import readings
from tests.contracts.session_script import START_MS, ScriptedSession


@pytest.mark.requirement("S2", "U5")
def test_a_curve_comes_with_what_happened_on_it(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.call()
    script.alerts()
    script.compacts()
    script.says("done")
    sync(store)
    found = api.get("/api/sessions/s1/readings").json()
    assert found["step"] == [1, 2] and found["used_tokens"] == [30, 30]
    assert (found["first_step"], found["last_step"], found["total"]) == (1, 2, 2)
    assert found["edge_tokens"] == 167_000
    assert found["zones"] == {"yellow": 0.5, "orange": 0.75, "red": 0.9}
    [compaction] = found["compactions"]
    assert (compaction["number"], compaction["step"], compaction["after_tokens"]) == (1, 1, 4_000)
    [alert] = found["alerts"]
    assert (alert["step"], alert["level"], alert["heard"]) == (1, "warning", False)
    later = api.get("/api/sessions/s1/readings", params={"from": 2, "to": 9}).json()
    assert later["step"] == [2] and later["first_step"] == 1


@pytest.mark.requirement("S2", "U5")
def test_a_long_curve_is_thinned_and_an_agent_has_its_own(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    sync(store)
    many = [(step, START_MS + step, step) for step in range(5_000)]
    store.write(lambda c: readings.add(c, "s1", "", many, 10_000))
    store.write(lambda c: readings.add(c, "s1", "a/1", many[:3], None))
    found = api.get("/api/sessions/s1/readings", params={"points": 100}).json()
    assert found["total"] == 5_000 and 50 < len(found["step"]) <= 100
    own = api.get("/api/sessions/s1/readings", params={"agent": "a/1"}).json()
    assert (own["agent_id"], own["step"], own["limit_tokens"]) == ("a/1", [0, 1, 2], [None] * 3)

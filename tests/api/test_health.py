"""`/health` while the database is damaged, or a session cannot be ingested."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.cli.main import holdfast_command
from holdfast.hub.errors import Corrupt
from holdfast.hub.ingest import set_aside
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import projects
from tests.contracts.faulty_sessions import a_working_session, take_the_path


@pytest.mark.requirement("X6", "S1")
def test_it_is_unhealthy_once_damage_was_met(api: TestClient, store: Store) -> None:
    if not store.is_sqlite:
        pytest.skip("a file is damaged, not a server")
    same = {"metadata": {"text": "y" * 300}, "created_ms": 1, "updated_ms": 1}
    rows = [{"id": f"p{n}", "path": f"/w/{n}", **same} for n in range(1500)]
    store.write(lambda c: c.execute(sa.insert(projects), rows))
    assert api.get("/health").status_code == 200
    store.engine.dispose()  # the log is put into the file
    path = Path(store.engine.url.database or "")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 65536] = b"\xa5" * 65536
    path.write_bytes(data)
    with pytest.raises(Corrupt):
        store.read(lambda c: c.execute(sa.select(projects)).all())
    answer = api.get("/health")
    assert answer.status_code == 503
    assert answer.json()["database"]["error"] == "the database is damaged"


@pytest.mark.requirement("A1", "X6", "U2")
def test_health_and_doctor_report_what_is_set_aside(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    assert _health(api)["sources"] == {"set_aside": 0}
    take_the_path(store, "/p/taken-path")
    a_working_session(tmp_path, "taken-path")
    sync(store)
    n = len(set_aside.load())
    assert (_health(api)["status"], _health(api)["sources"]) == ("degraded", {"set_aside": n})
    assert "taken-path" not in api.get("/health").text, "anybody may ask"
    run = CliRunner().invoke(holdfast_command, ["doctor", "--json"])
    [trouble] = [one for one in json.loads(run.stdout)["troubles"] if "could not be read" in one]
    assert "window:taken-path/main" in trouble
    set_aside.forget()
    assert _health(api)["status"] == "healthy"


def _health(api: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/health").json()
    return found

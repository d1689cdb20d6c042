"""`/health` while the database is damaged."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from holdfast.hub.errors import Corrupt
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import projects


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

from __future__ import annotations

import math
from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import cleanups
from holdfast.hub.tree import sessions
from tests.contracts.trees import count_of


@pytest.mark.requirement("S1")
def test_a_session_met_twice_is_counted_once(store: Store) -> None:
    for now_ms in (1, 2):
        store.write(lambda c, at=now_ms: sessions.meet(c, "s", None, at))  # type: ignore[misc]
    assert count_of(store, "sessions") == 1


def test_json_that_only_python_writes_is_still_read(tmp_path: Path) -> None:
    """Rows of older versions were written by `json`."""
    store = Store.open(f"sqlite:///{tmp_path / 'old.db'}")
    put = "INSERT INTO cleanups (id, ran_ms, figures) VALUES ('c', 1, ?)"
    store.write(lambda c: c.exec_driver_sql(put, ('{"rate": NaN, "odd": "\\ud800"}',)))
    [found] = store.read(lambda c: c.execute(sa.select(cleanups.c.figures)).scalars().all())
    store.close()
    assert math.isnan(found["rate"])
    assert found["odd"] == "\ud800"

import math
from pathlib import Path

import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import cleanups


def test_json_that_only_python_writes_is_still_read(tmp_path: Path) -> None:
    """Rows of older versions were written by `json`."""
    store = Store.open(f"sqlite:///{tmp_path / 'old.db'}")
    put = "INSERT INTO cleanups (id, ran_ms, figures) VALUES ('c', 1, ?)"
    store.write(lambda c: c.exec_driver_sql(put, ('{"rate": NaN, "odd": "\\ud800"}',)))
    [found] = store.read(lambda c: c.execute(sa.select(cleanups.c.figures)).scalars().all())
    store.close()
    assert math.isnan(found["rate"])
    assert found["odd"] == "\ud800"

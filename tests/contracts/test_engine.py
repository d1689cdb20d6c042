from __future__ import annotations

import pytest

from holdfast.hub.store import pending_writes
from holdfast.hub.store.store import Store
from holdfast.hub.tree import sessions


@pytest.mark.requirement("S1")
def test_a_session_met_twice_is_counted_once(store: Store) -> None:
    for now_ms in (1, 2):
        store.write(lambda c, at=now_ms: sessions.meet(c, "s", None, at))  # type: ignore[misc]
    assert store.read(lambda c: pending_writes.counted(c, "sessions")) == 1

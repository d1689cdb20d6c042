"""What clients count of a window themselves, on both engines."""

from __future__ import annotations

from functools import partial

import pytest

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import windows
from holdfast.hub.tree import capacity
from tests.contracts import parallel_threads

NOW = 1_770_000_000_000


@pytest.mark.requirement("S2", "A4")
def test_nothing_is_lost_of_what_several_count_at_once(store: Store, store_url: str) -> None:
    track = partial(
        capacity.track, session_id="s1", agent_id="a1", chars=3_500, model=None, now_ms=NOW
    )
    store.write(track)
    for _ in range(5):
        assert parallel_threads.threads(store_url, [track] * 8) == [None] * 8
    [found] = store.read(lambda c: c.execute(windows.select()).all())
    assert found.used_tokens == 41 * 1_000

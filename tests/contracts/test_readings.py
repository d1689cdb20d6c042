"""How full a window was is kept step by step, once, thinned after a day, and bounded."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import positions
from holdfast.hub.tree import readings, sessions
from holdfast.hub.tree.readings import UsedAtStep
from tests.contracts.session_script import ScriptedSession, rows_of


def _of(store: Store, session: str = "s1", **bounds: Any) -> list[UsedAtStep]:
    return store.read(lambda c: readings.list_readings(c, session, "", **bounds))


@pytest.mark.requirement("U5", "S1")
def test_each_step_of_a_transcript_is_one_reading_however_often_it_is_told(
    store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.call()
    script.call()
    sync(store)
    script.compacts()
    script.says("done")
    script.works("a1")
    sync(store)
    found = _of(store)
    assert [one.step for one in found] == [1, 2, 3, 4]
    assert {(one.used_tokens, one.limit_tokens) for one in found} == {(30, 167_000)}
    assert [one.at_ms for one in found] == sorted(one.at_ms for one in found)
    agents = store.read(lambda c: readings.list_readings(c, "s1", "a1"))
    assert [one.step for one in agents] == [1]
    [compaction] = store.read(lambda c: readings.compactions_of(c, "s1", ""))
    assert (compaction["number"], compaction["step"], compaction["trigger"]) == (1, 2, "auto")
    before = rows_of(store, "readings", "compactions")
    store.write(lambda c: c.execute(sa.delete(positions)))
    sync(store)
    assert rows_of(store, "readings", "compactions") == before


@pytest.mark.requirement("U5")
def test_the_readings_of_a_session_go_with_it(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.call()
    script.compacts()
    sync(store)
    store.write(lambda c: sessions.remove(c, "s1", 0))
    assert rows_of(store, "readings", "compactions") == {"readings": [], "compactions": []}


@given(used=st.lists(st.integers(0, 10**6), max_size=400), most=st.integers(4, 60))
def test_thinning_keeps_the_extremes_the_order_and_the_number(used: list[int], most: int) -> None:
    found = [UsedAtStep(step, step, one, None) for step, one in enumerate(used)]
    kept = readings.thin(found, most)
    assert len(kept) <= max(most, 4) and kept == sorted(set(kept))
    assert set(kept) <= set(found)
    for extreme in (min, max):
        wanted = extreme(used, default=None)
        assert wanted == extreme((one.used_tokens for one in kept), default=None)
    assert (kept[:1], kept[-1:]) == (found[:1], found[-1:])

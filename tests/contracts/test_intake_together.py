"""Hooks of eight processes and two that take in, all at once: nothing lost, nothing doubled."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.contracts.session_script import ScriptedSession, emptied, rows_of

TAKING_IN = """
import select, sys
from holdfast.hub.store.store import Store
from holdfast.hub.ingest.sync import sync
store = Store.open(sys.argv[1])
while not select.select([sys.stdin], [], [], 0.01)[0]:
    sync(store)
store.close()
"""


@pytest.mark.nightly
@pytest.mark.requirement("A1", "X6")
def test_killed_at_any_instant_it_goes_on_as_if_nothing_had_been(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    for number in range(3):
        script = ScriptedSession(tmp_path, f"s{number}")
        script.prompt()
        for _ in range(300):
            script.call()
        script.works("a1")
    for wait_s in (0.5, 0.6, 0.7, 0.8, 1.0, 1.2):
        taker = subprocess.Popen(
            [sys.executable, "-c", TAKING_IN, store_url], stdin=subprocess.PIPE
        )
        with suppress(subprocess.TimeoutExpired):
            taker.wait(wait_s)
        taker.kill()
        taker.communicate()
    sync(store)
    stepwise = rows_of(store)
    assert {row["total_tools_used"] for row in stepwise["sessions"]} == {302}
    emptied(store)
    sync(store)
    assert rows_of(store) == stepwise

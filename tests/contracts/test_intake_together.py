"""Hooks of eight processes and two that take in, all at once: nothing lost, nothing doubled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.client import sample_payloads
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.wire import places, spool
from tests.contracts.session_script import ScriptedSession, emptied, rows_of
from tests.hot.hooks import run

HOOKS, EACH = 8, 10
TAKING_IN = """
import select, sys
from holdfast.hub.store.store import Store
from holdfast.hub.ingest.sync import sync
store = Store.open(sys.argv[1])
while not select.select([sys.stdin], [], [], 0.01)[0]:
    sync(store)
store.close()
"""


def _fire(process: int) -> None:
    """The calls of one session and one of its subagents, a hook process each."""
    session = f"s{process % 4}"
    for number in range(EACH):
        sent = sample_payloads.make_payload(
            "PostToolUseFailure" if number % 5 == 4 else "PostToolUse",
            session_id=session,
            transcript="",
            cwd="/p",
        )
        sent |= {"tool_use_id": f"toolu_{process}_{number}", "duration_ms": 7}
        if process >= 4:
            sent |= {"agent_id": f"agent{process}", "agent_type": "reviewer"}
        done = run(json.dumps(sent).encode(), loud=False)
        assert done.returncode == 0


@pytest.mark.nightly
@pytest.mark.requirement("A1", "A4", "X6")
def test_eight_processes_of_hooks_and_two_that_take_in(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    for number in range(4):
        ScriptedSession(tmp_path, f"s{number}", "/p")
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKING_IN, store_url],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    with ThreadPoolExecutor(HOOKS) as pool:
        list(pool.map(_fire, range(HOOKS)))
    for taker in takers:
        _, errors = taker.communicate(b"enough", timeout=60)
        assert taker.returncode == 0, errors.decode()
        assert b"busy" not in errors
    sync(store)
    left = sum(
        line.tool_use_id.startswith("toolu_")
        for number in range(4)
        for agent in ("", f"agent{number + 4}")
        for line in spool.lines(places.window(f"s{number}", agent))
    )
    found = rows_of(store)
    assert left == HOOKS * EACH
    assert len(found["actions"]) == HOOKS * EACH
    assert {row["total_tools_used"] for row in found["sessions"]} == {2 * EACH}
    assert {row["total_errors"] for row in found["sessions"]} == {4}
    assert Counter(row["agent_id"] for row in found["actions"]).most_common(1)[0][1] == 4 * EACH


@pytest.mark.slow
@pytest.mark.requirement("A1", "A4", "S1")
def test_several_that_take_in_the_same_at_once_take_it_in_once(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    for number in range(6):
        script = ScriptedSession(tmp_path, f"s{number}")
        script.prompt()
        for agent in ("a1", "a2"):
            script.works(agent)
        for _ in range(40):
            script.call()
        script.says("done")

    def take_in(_: int) -> None:
        own = Store.open(store_url)
        sync(own)
        own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(take_in, range(4)))
    found = rows_of(store)
    assert len(found["actions"]) == 6 * (40 + 4)
    assert {row["total_tools_used"] for row in found["sessions"]} == {44}
    assert len(found["subtasks"]) == 12


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

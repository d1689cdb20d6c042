"""Hooks of eight processes for a minute, while two others take in what they leave: what is lost,
what is doubled, how many were refused as busy. How fast a transcript becomes rows. And whether a
session that cannot be taken in stops another.

    python -m benchmarks.intake [SECONDS]
    python -m benchmarks.intake faults
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from tests.contracts.faulty_sessions import FAULTS, a_working_session, take_the_path

from benchmarks import made_up
from benchmarks.databases import both
from benchmarks.hooks import HOOK
from holdfast.client import sample_payloads
from holdfast.hub.ingest import gather
from holdfast.hub.ingest.sync import sync
from holdfast.hub.rebuild import rebuild
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions
from holdfast.window.state import State, save
from holdfast.wire import mark, places

Row = tuple[str, str, str]
PROCESSES, SECONDS, SESSIONS = 8, 60.0, 200
TAKING_IN = """
import select, sys
from holdfast.hub.store.store import Store
from holdfast.hub.ingest.sync import sync
store = Store.open(sys.argv[1])
while not select.select([sys.stdin], [], [], 0.2)[0]:
    sync(store)
store.close()
"""


def rows(seconds: float = SECONDS) -> Iterator[Row]:
    with both() as databases:
        for engine, address in databases.items():
            with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
                os.environ["HOLDFAST_HOME"] = folder
                yield _together(engine, address, seconds)
                yield _speed(engine, address, Path(folder))
    yield from faults()


def faults() -> Iterator[Row]:
    """200 sessions, every tenth with a fault of its own kind, taken in and then rebuilt."""
    with both() as databases:
        for engine, address in databases.items():
            with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
                os.environ["HOLDFAST_HOME"] = folder
                yield _beside_faults(engine, address, Path(folder))


def _beside_faults(engine: str, address: str, folder: Path) -> Row:
    kinds = dict(enumerate(FAULTS.items()))
    wanted: dict[str, int] = {}
    for number in range(SESSIONS):
        fault = kinds.get(number // 10) if number % 10 == 5 else None
        name = fault[0] if fault else f"healthy-{number:03}"
        script = a_working_session(folder, name, fault and fault[1])
        if fault is None:
            wanted[name] = script.calls
    store = Store.open(address)
    take_the_path(store, "/p/taken-path")
    sync(store)
    missing = _not_whole(store, wanted)
    store.close()
    failed = rebuild(address).synced.set_aside
    store = Store.open(address)
    again = _not_whole(store, wanted)
    store.close()
    title = f"{engine}: {SESSIONS} sessions, {len(kinds)} of them with a fault of its own kind"
    figure = f"{missing} others not taken in, {again} after a rebuild; {failed} set aside"
    return title, figure, "0, 0"


def _not_whole(store: Store, wanted: dict[str, int]) -> int:
    """How many of these sessions do not have as many calls as they should."""
    query = sa.select(actions.c.session_id, sa.func.count()).group_by(actions.c.session_id)
    found = store.read(lambda c: dict(map(tuple, c.execute(query))))
    return sum(found.get(name) != calls for name, calls in wanted.items())


def _together(engine: str, address: str, seconds: float) -> Row:
    Store.open(address).close()
    for number in range(PROCESSES):
        _window(f"bench{number}", "")
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKING_IN, address],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(PROCESSES) as pool:
        fired = sum(pool.map(lambda number: _fire(number, until), range(PROCESSES)))
    errors = [taker.communicate(b"enough")[1] for taker in takers]
    store = Store.open(address)
    sync(store)
    ids = store.read(lambda c: list(c.execute(sa.select(actions.c.id)).scalars()))
    store.close()
    busy = sum(len(one.splitlines()) for one in errors)
    figure = f"{fired - len(set(ids))} lost, {len(ids) - len(set(ids))} doubled, {busy} errors"
    name = f"{engine}: {PROCESSES} processes of hooks for {seconds:.0f} s, {fired:,} calls"
    return name, figure, "0, 0, 0"


def _fire(number: int, until: float) -> int:
    fired = 0
    while time.monotonic() < until:
        session = f"bench{number}"
        sent = sample_payloads.make_payload(
            "PostToolUse", session_id=session, transcript="", cwd="/p"
        )
        sent |= {"tool_use_id": f"toolu_{number}_{fired}"}
        subprocess.run(HOOK, input=json.dumps(sent).encode(), check=True, capture_output=True)
        fired += 1
    return fired


def _speed(engine: str, address: str, folder: Path) -> Row:
    """5 MB of a made-up session: gathering alone, and with the rows written."""
    transcript = folder / "5mb.jsonl"
    made_up.write(transcript, 5 << 20)
    _window("long", str(transcript))
    [source] = [one for one in gather.sources() if "long" in one]
    began = time.perf_counter()
    position: dict[str, Any] = {}
    while (batch := gather.gather(source, position)) is not None:
        position = batch.until
    gathered = time.perf_counter() - began
    store = Store.open(address)
    began = time.perf_counter()
    done = sync(store, [source])
    whole = time.perf_counter() - began
    store.close()
    figure = f"{done.actions / whole:,.0f} calls a second, {gathered / whole:.0%} of it reading"
    return f"{engine}: 5 MB of transcript into rows", figure, ""


def _window(session: str, transcript: str) -> None:
    folder = places.window(session)
    Path(folder).mkdir(parents=True)
    save(
        folder, State(session_id=session, project="/p", transcript=transcript, edge_tokens=167_000)
    )
    mark.arm(folder, mark.Mark(above=150_000))


if __name__ == "__main__":
    only_faults = sys.argv[1:] == ["faults"]
    seconds = float(sys.argv[1]) if sys.argv[1:] and not only_faults else SECONDS
    for title, figure, wanted in faults() if only_faults else rows(seconds):
        print(f"{title:64} {figure:48} {wanted}", flush=True)

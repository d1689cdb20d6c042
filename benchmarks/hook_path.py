"""Eight processes write through the hook path for a minute while two take in: nothing may be lost,
doubled, or end in "busy".

    python -m benchmarks.hook_path [SECONDS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from benchmarks.databases import both
from benchmarks.hooks import HOOK
from holdfast.client import payloads
from holdfast.store.store import Store
from holdfast.store.tables import actions
from holdfast.work.sync import sync

Row = tuple[str, str, str]
SECONDS, WRITERS, TAKERS = 60.0, 8, 2
TAKE = "import sys; from benchmarks.hook_path import take; take(sys.argv[1])"
FIRE = (
    "import sys; from benchmarks.hook_path import fire; fire(int(sys.argv[1]), float(sys.argv[2]))"
)


def rows(seconds: float = SECONDS) -> Iterator[Row]:
    with both() as addresses:
        for engine, address in addresses.items():
            fired, found, busy = measure(address, seconds / len(addresses))
            figure = (
                f"{fired:,} calls: {max(0, fired - found)} lost, {max(0, found - fired)} doubled"
            )
            name = f"{WRITERS} processes through the hook path, {TAKERS} taking in, {engine}"
            yield name, f"{figure}, {busy} busy errors", "0, 0, 0"


def measure(address: str, seconds: float) -> tuple[int, int, int]:
    """Calls fired, rows found, and how often somebody said busy."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        before, os.environ["HOLDFAST_HOME"] = os.environ.get("HOLDFAST_HOME"), home
        try:
            Store.open(address).close()
            takers = [_start(TAKE, address) for _ in range(TAKERS)]
            writers = [_start(FIRE, str(n), str(seconds)) for n in range(WRITERS)]
            fired = sum(int(writer.communicate()[0]) for writer in writers)
            slips = [taker.communicate("enough")[1] for taker in takers]
            found = _taken(address)
            logged = Path(home, "guard.log")
            said = "\n".join([*slips, logged.read_text() if logged.exists() else ""])
        finally:
            os.environ.pop("HOLDFAST_HOME")
            if before is not None:
                os.environ["HOLDFAST_HOME"] = before
        return fired, found, said.count("busy") + said.count("locked")


def fire(number: int, seconds: float) -> None:
    """Hook processes one after the other, each with a call of its own; prints how many."""
    until = time.monotonic() + seconds
    fired = 0
    while time.monotonic() < until:
        sent = payloads.payload(
            "PostToolUse", session_id=f"bench-{number % 4}", transcript="", cwd="/p"
        )
        sent |= {"tool_use_id": f"toolu_{number}_{fired}"}
        subprocess.run(HOOK, input=json.dumps(sent).encode(), check=True, capture_output=True)
        fired += 1
    print(fired)


def take(address: str) -> None:
    """Take in whatever there is, until told that it is enough."""
    import select

    store = Store.open(address)
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        sync(store)
    store.close()


def _taken(address: str) -> int:
    store = Store.open(address)
    sync(store)
    found = store.read(lambda c: c.scalar(sa.select(sa.func.count()).select_from(actions)))
    store.close()
    return int(found or 0)


def _start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


if __name__ == "__main__":
    for row in rows(float(sys.argv[1]) if sys.argv[1:] else SECONDS):
        print(*row, sep=" | ", flush=True)

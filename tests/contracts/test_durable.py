"""Acknowledged means on the disk: a write that was answered survives a power cut."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store

pytestmark = pytest.mark.requirement("S1", "X6")
FULL = 2  # SQLite: the log is flushed before a commit returns


def _setting(connection: Connection) -> object:
    if connection.dialect.name == "sqlite":
        return connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
    return connection.exec_driver_sql("SHOW synchronous_commit").scalar_one()


def test_every_connection_that_writes_waits_for_the_disk(store: Store) -> None:
    wanted = FULL if store.is_sqlite else "on"
    assert store.submit(_setting).result(30) == wanted, "the writing thread of a server"
    assert store.write(_setting) == wanted, "commands, and what takes in spools"


@pytest.mark.slow
def test_a_database_that_does_not_wait_for_its_disk_is_reported(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    name = store.engine.url.database
    store.write(
        lambda c: c.exec_driver_sql(f'ALTER DATABASE "{name}" SET synchronous_commit = off').close()
    )
    store.engine.dispose()
    [found] = [one for one in check(store.engine) if one.name == "durability"]
    store.close()
    assert not found.ok
    assert "power cut" in found.words


WRITTEN = 20
WRITES = f"""
import sys
from holdfast.hub.store.store import Store
from holdfast.hub.board import messages

def post(c):
    messages.post(c, messages.draft("a", "task.completed", {{}}, 1))

store = Store.open(sys.argv[1])
store.submit(post).result()
def begin(name):  # a mark in the account
    try:
        open(f"/nowhere/{{name}}")
    except OSError:
        pass
begin("start")
for _ in range({WRITTEN}):
    store.submit(post).result()
begin("over")
"""


@pytest.mark.slow
def test_each_acknowledged_write_was_flushed(sqlite_url: str, tmp_path: Path) -> None:
    """Counted by the kernel's own account of the process."""
    strace, calls = shutil.which("strace"), tmp_path / "calls"
    if strace is None:
        pytest.skip("NO STRACE: that SQLite flushes is not proven, only that it is told to")
    watched = [strace, "-f", "-e", "trace=fsync,fdatasync,openat", "-o", str(calls)]
    run = subprocess.run(
        [*watched, sys.executable, "-c", WRITES, sqlite_url],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in run.stderr:
        pytest.skip(f"STRACE MAY NOT LOOK: {run.stderr[:200]}")
    assert run.returncode == 0, run.stderr
    _, written, _ = re.split(r".*/nowhere/.*\n", calls.read_text())
    assert len(re.findall(r"\bf(?:data)?sync\(", written)) >= WRITTEN

"""What the server does beside answering: it watches, and makes vectors; and ends all the same."""

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.mcp import client_session
from holdfast.memory.locations import index_file, resolve
from holdfast.watcher import loop
from holdfast.wire import log, places
from tests.builders import EDGE
from tests.mcp.clients import ended, talking
from tests.waiting import until
from tests.watcher.machine import Machine, kept

LONG = 60.0


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_WATCH_SECONDS", "1")


def a_full_session(own_home: Path) -> None:
    machine = Machine(own_home, own_home / "places")
    machine.now_ms = int(time.time() * 1000)
    machine.session("s1", int(EDGE * 0.65))


@pytest.mark.slow
@pytest.mark.requirement("A5")
@pytest.mark.usefixtures("quick_looks")
def test_with_a_server_alone_a_full_session_is_saved(own_home: Path, tmp_path: Path) -> None:
    a_full_session(own_home)
    with talking(tmp_path, modern=True) as talk:
        until(lambda: kept() == ["s1 watcher"], LONG)
        held = loop.holder()
        assert held is not None
        assert (held["pid"], held["inside"]) == (talk.process.pid, "mcp")
        until(lambda: _rows("SELECT topic FROM messages") == [("checkpoint_trigger",)], LONG)
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        assert talk.process.wait(LONG) == 0
    assert loop.holder() is None
    errors = [line for line in Path(log.path()).read_text().splitlines() if " ERROR " in line]
    late = "it does not answer; messages wait"  # a busy machine is slow, and says so
    assert [line for line in errors if not line.endswith(late)] == []


@pytest.mark.nightly
@pytest.mark.requirement("M2", "X3")
def test_vectors_are_made_in_the_background_and_a_kill_ends_it_at_once(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.memory import transcripts

    many = [f"the ferry number {one} leaves at nine" for one in range(2_000)]
    transcripts.a_session(tmp_path, "s1", *many)
    with talking(tmp_path) as talk:
        until(lambda: _vectors(tmp_path) > 0, LONG)
        talk.process.send_signal(signal.SIGTERM)
        assert ended(talk.process.pid)
    assert 0 < _vectors(tmp_path) < len(many), "it ended in the middle"


@pytest.mark.requirement("A5")
def test_no_database_is_made_where_there_is_none() -> None:
    assert client_session.open_existing() is None
    assert not (Path(places.home()) / "holdfast.db").exists()


def _rows(query: str) -> list[tuple[str, ...]]:
    try:
        with closing(sqlite3.connect(Path(places.home()) / "holdfast.db")) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def _vectors(project: Path) -> int:
    try:
        with closing(sqlite3.connect(index_file(resolve(str(project))))) as connection:
            [(count,)] = connection.execute("SELECT count(*) FROM vectors").fetchall()
            return int(count)
    except sqlite3.OperationalError:
        return 0

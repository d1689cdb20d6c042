"""The server starts and exits with its client: none is ever left behind."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.hub.store.store import Store
from holdfast.mcp.server import wait_for_client_end
from holdfast.mcp.tool_table import TOOLS
from holdfast.wire import log, places
from tests.mcp.clients import COMMAND, HELLO, a_session, ended, talking

pytestmark = pytest.mark.slow  # each starts a server of its own: over a second of CPU

# A client that starts the server, says its pid, and lives until it is killed. Its own child holds
# the pipe to the server open, so that the end of the input cannot be what ends the server.
CLIENT = """
import json, os, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
if os.fork() == 0:
    os.close(1)
    sys.stdin.read()
    os._exit(0)
for line in json.loads(sys.argv[2]):
    server.stdin.write(json.dumps(line).encode() + b"\\n")
    server.stdin.flush()
    if line.get("id") == 1:
        server.stdout.readline()
print(server.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def _client(*asked: dict[str, object]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *asked,
    ]
    command = [sys.executable, "-c", CLIENT, json.dumps(COMMAND), json.dumps(lines)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as client:
        assert client.stdout is not None
        yield client, int(client.stdout.readline())


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@pytest.mark.requirement("U6", "X3")
def test_a_killed_client_leaves_no_server_behind_while_a_tool_is_at_work() -> None:
    Store.open().close()
    post = {"op": "post", "topic": "task.created", "text": "x"}
    params = {"name": "board", "arguments": post}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    with _locked(_database()), _client(call) as (client, server):
        client.send_signal(signal.SIGKILL)
        assert ended(server)


@pytest.mark.requirement("U6", "X3")
@pytest.mark.parametrize("busy", [False, True])
def test_the_end_of_the_input_ends_the_server(tmp_path: Path, busy: bool) -> None:
    Store.open().close()
    with _locked(_database()), talking(tmp_path) as talk:
        if busy:
            post = {"op": "post", "topic": "task.created", "text": "x"}
            talk.send("tools/call", {"name": "board", "arguments": post})
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        assert talk.process.wait(30) == 0


@pytest.mark.requirement("U6", "X6")
def test_a_locked_database_is_said_and_other_tools_go_on(tmp_path: Path) -> None:
    Store.open().close()
    a_session(tmp_path)
    with _locked(_database()), talking(tmp_path) as talk:
        assert "locked" in talk.bad("board", op="post", topic="task.created", text="x")
        assert talk.good("status")["zone"] == "green"
        assert talk.good("checkpoint")["verified"]


@pytest.mark.requirement("U6", "X6")
def test_a_database_that_comes_back_is_used_again(tmp_path: Path) -> None:
    Path(places.home()).mkdir(parents=True)
    _database().write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    with talking(tmp_path) as talk:
        talk.bad("board", op="read")
        _database().unlink()
        assert talk.good("board", op="read")["messages"] == []


@pytest.mark.requirement("U6", "C5")
def test_over_the_wire_tools_are_listed_and_called_as_in_this_process(tmp_path: Path) -> None:
    a_session(tmp_path)
    with talking(tmp_path) as talk:
        assert talk.ask("tools/list")["tools"] == [tool.listed for tool in TOOLS.values()]
        kept = talk.good("checkpoint")
        assert verify(kept["path"]).ok
        assert talk.good("status")["checkpoint_path"] == kept["path"]
        assert "no tool" in talk.bad("tides")


@pytest.mark.requirement("X7", "U6")
def test_lines_that_are_no_protocol_harm_nothing(tmp_path: Path) -> None:
    with talking(tmp_path) as talk:
        for line in (b"", b"hello", b"\xff\xfe", b"[]", b"{}", b'{"jsonrpc":"2.0"}', b"9" * 9000):
            talk.write_raw(line)
        a_session(tmp_path)
        assert talk.good("status")["zone"] == "green"


@pytest.mark.requirement("U6", "X3")
def test_a_server_nobody_can_hear_ends_though_its_input_is_open(tmp_path: Path) -> None:
    with talking(tmp_path) as talk:
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        assert ended(talk.process.pid)


@pytest.mark.requirement("U6", "A1")
def test_what_hooks_left_is_taken_in_while_it_lives(tmp_path: Path) -> None:
    a_session(tmp_path)
    with talking(tmp_path) as talk:
        talk.good("board", op="read")
        rows = _awaited("SELECT id FROM sessions")
    assert rows == [("s1",)]
    assert " ERROR " not in Path(log.path()).read_text()


def _awaited(query: str) -> list[tuple[str, ...]]:
    """The first rows there are, bounded by the test's own time limit."""
    with closing(sqlite3.connect(_database())) as connection:
        while not (rows := connection.execute(query).fetchall()):
            pass
        return rows


def _database() -> Path:
    return Path(places.home()) / "holdfast.db"


@pytest.fixture
def wire() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(writes)


def _waiting(parent: int, wire: int) -> threading.Thread:
    thread = threading.Thread(target=wait_for_client_end, args=(parent, wire), daemon=True)
    thread.start()
    return thread


@pytest.mark.requirement("U6", "X3")
def test_it_waits_until_nobody_reads_the_answers(wire: tuple[int, int]) -> None:
    reads, writes = wire
    waiting = _waiting(os.getppid(), writes)
    waiting.join(0.05)
    assert waiting.is_alive()
    os.close(reads)
    waiting.join(20)
    assert not waiting.is_alive()


@pytest.mark.requirement("U6", "X3")
def test_a_client_that_died_while_we_loaded_is_noticed(wire: tuple[int, int]) -> None:
    """Whoever has us now is not who started us."""
    reads, writes = wire
    waiting = _waiting(os.getpid(), writes)
    waiting.join(20)
    assert not waiting.is_alive()
    os.close(reads)


@pytest.mark.requirement("X1")
def test_a_server_that_cannot_start_says_so_in_one_line() -> None:
    started = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -n 5; exec "$@"', "sh", *COMMAND], capture_output=True, text=True
    )
    assert started.returncode == 1
    assert started.stderr.startswith("holdfast mcp could not start: ")
    assert started.stderr.count("\n") == 1

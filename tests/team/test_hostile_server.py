"""A team server gets no secret, whatever it says of its position."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from holdfast.hub.store.store import Store
from holdfast.hub.team.connection import TeamServer
from holdfast.hub.team.forward import LocalSource, forward
from tests.api.live import TOKEN, in_thread
from tests.contracts.session_script import ScriptedSession, emptied, rows_of

pytestmark = pytest.mark.requirement("S4", "X4")
SECRET = "qR7vTz2mXw9KpL4s"
Claim = Callable[[dict[str, Any]], dict[str, Any]]


def _with_told(until: dict[str, Any], told: list[int]) -> dict[str, Any]:
    """The position with other places at which a secret was named."""
    turns = until["turns"]
    assert turns["record"]["told"], "a position holds where secrets were named"
    return {**until, "turns": {**turns, "record": {**turns["record"], "told": told}}}


CLAIMS: dict[str, Claim] = {
    "no place of a secret": lambda until: _with_told(until, []),
    "another place of a secret": lambda until: _with_told(until, [0]),
}


@contextmanager
def _claiming(claim: Claim) -> Iterator[tuple[TeamServer, list[bytes]]]:
    """A server that refuses each batch once, and claims a position made from its end."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            answer: dict[str, Any] = {"agents": []}
            status = 200
            if self.path == "/api/intake":
                got.append(data)
                until = json.loads(data)["until"]
                status = 409 if len(got) % 2 else 200
                answer = {"position": claim(until) if status == 409 else until}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield TeamServer(f"http://127.0.0.1:{server.server_port}", TOKEN), got
        finally:
            server.shutdown()
            thread.join(5)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_a_server_that_claims_a_position_gets_no_secret(tmp_path: Path, claim: Claim) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt(f"the password: {SECRET}")
    script.call()
    with _claiming(claim) as (server, got):
        forward(server, LocalSource())
        script.prompt(f"use {SECRET} for the gauge")
        script.call("Bash", {"command": f"echo {SECRET}"})
        for _ in range(3):
            forward(server, LocalSource())
    sent = b"".join(got)
    assert b"for the gauge" in sent
    assert SECRET.encode() not in sent


def test_a_session_that_is_sent_again_from_its_beginning_changes_nothing(
    store: Store, own_home: Path, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.starts()
    script.prompt()
    script.lists("read the gauges", 1)
    script.ticks(1, "in_progress")
    script.works("a1")
    script.compacts()
    script.alerts()
    script.ticks(1, "completed")
    script.says("done")
    script.ends()
    with in_thread(store) as found:
        server = TeamServer(f"http://127.0.0.1:{found.port}", TOKEN)
        assert forward(server, LocalSource()).whole
        script.prompt("and now the tests")
        script.call()
        _forget(own_home)
        assert forward(server, LocalSource()).batches > 0
        twice = rows_of(store)
        assert twice["actions"]
        _forget(own_home)
        emptied(store)
        assert forward(server, LocalSource()).whole
        assert rows_of(store) == twice


def _forget(own_home: Path) -> None:
    """As if this machine had lost its notes of what it sent."""
    for path in (own_home / ".holdfast" / "forwarded").iterdir():
        path.unlink()

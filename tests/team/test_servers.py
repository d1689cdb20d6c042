"""Real server processes that die, come back, and share one database."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.hub import row_times
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.team import connection
from holdfast.hub.team.connection import TeamServer
from holdfast.hub.team.forward import LocalSource, forward
from tests.api.live import TOKEN, as_process
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire
from tests.team.fakes import Source, arrived

pytestmark = [pytest.mark.requirement("S4")]
PROGRAM = [sys.executable, "-m", "tests.team.fakes"]
IN_COPY = {"PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.mark.slow
def test_a_server_that_dies_after_writing_and_before_answering(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    told = Source({"a": list(range(30))})
    die_once = {**IN_COPY, "DIE_ONCE": str(tmp_path / "died")}
    with as_process(store_url, program=PROGRAM, environ=die_once) as live:
        server = TeamServer(f"http://127.0.0.1:{live.port}", TOKEN)
        done = forward(server, told)
        assert (done.batches, live.wait()) == (0, 9)
        assert store.read(arrived) == {"a": list(range(10))}, "written, and nobody told us"
        assert connection.health(server.url).is_down(row_times.now_ms())
    with as_process(store_url, program=PROGRAM, environ=die_once, port=live.port) as live:
        done = forward(server, told)
        assert (done.batches, done.whole) == (2, True)
    assert store.read(arrived) == {"a": list(range(30))}


def _named(listener: socket.socket) -> dict[str, str]:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    return {"HOLDFAST_SERVER": url, "HOLDFAST_SERVER_TOKEN": TOKEN}


def test_a_woken_asynchronous_hook_tells_the_server_and_what_it_says_is_the_same(
    tmp_path: Path,
) -> None:
    """Nobody listens there: the hook ends well, says nothing of it, and leaves it for a minute."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        environ = _named(listener)
    assert fire("PostToolUse", path, environ=environ) == {}
    known = connection.health(environ["HOLDFAST_SERVER"])
    assert known.is_down(known.tried_ms + 1)
    tried = known.tried_ms
    fire("PostToolUse", path, environ=environ)
    assert connection.health(environ["HOLDFAST_SERVER"]).tried_ms == tried


def test_without_a_server_no_hook_loads_what_speaks_to_one(tmp_path: Path) -> None:
    import json

    from holdfast.client import sample_payloads
    from tests.hot.hooks import COMMAND

    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    sent = sample_payloads.make_payload(
        "PostToolUse", session_id="s1", transcript=str(path), cwd="/p"
    )
    command = [COMMAND[0], "-X", "importtime", *COMMAND[1:]]
    found = subprocess.run(
        command, input=json.dumps(sent).encode(), capture_output=True, check=True, env=os.environ
    )
    loaded = found.stderr.decode()
    assert "holdfast.window.measurement" in loaded, "the test sees what is loaded"
    assert "holdfast.hub.tree" not in loaded
    assert "http.client" not in loaded


def test_sending_loads_no_database() -> None:
    """A hook sends: SQLAlchemy alone costs more than twenty bare starts."""
    code = "import sys, holdfast.hub.team.forward; print('sqlalchemy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


@pytest.mark.slow
def test_a_real_session_arrives_as_it_would_at_home(
    tmp_path: Path, store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows, whether taken in beside the session or over the wire."""
    import sqlalchemy as sa

    from holdfast.hub.store.tables import actions, requests, sessions
    from holdfast.hub.team import forward as forwarding

    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t1",)))
    for call in ("t1", "t2"):
        fire("PostToolUse", path, tool_use_id=call, tool_name="Read")
    with as_process(store_url) as live:
        monkeypatch.setenv("HOLDFAST_SERVER", f"http://127.0.0.1:{live.port}")
        monkeypatch.setenv("HOLDFAST_SERVER_TOKEN", TOKEN)
        done = forwarding.forward(connection.server(), LocalSource())
        assert done.whole, done.words
        assert forwarding.forward(connection.server(), LocalSource()).batches == 0
    home = Store.open(f"sqlite:///{tmp_path / 'home.db'}")
    sync(home)
    for table in (sessions, requests, actions):
        query = sa.select(table.c.id).order_by(table.c.id)
        there = store.read(lambda c, q=query: c.execute(q).all())  # type: ignore[misc]
        here = home.read(lambda c, q=query: c.execute(q).all())  # type: ignore[misc]
        assert there == here, table.name
    home.close()

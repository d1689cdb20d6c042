"""A message on the team's server, for a session of another machine: its own hooks say it, once."""

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from holdfast.hub import row_times
from holdfast.hub.board import outboxes
from holdfast.hub.store.store import Store
from holdfast.hub.team.connection import TeamServer
from holdfast.hub.team.forward import LocalSource, forward
from holdfast.window import outbox
from holdfast.wire import places
from tests.api.live import TOKEN, Process, as_process, run
from tests.board.model import Client

# Each with a server process of its own: 1.2 s of CPU.
pytestmark = [pytest.mark.requirement("A3", "S4"), pytest.mark.slow]
HOUR_MS = 3_600_000
WORDS = {"from_agent": "lead", "topic": "task.failed", "content": "the schema has changed"}


@pytest.fixture
def live(sqlite_url: str, tmp_path: Path) -> Iterator[Process]:
    """A server that is another machine: it has a home of its own."""
    away = {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "server")}
    with as_process(sqlite_url, environ=away) as found:
        yield found


@pytest.fixture
def server(live: Process) -> TeamServer:
    return TeamServer(f"http://127.0.0.1:{live.port}", TOKEN)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    found = Client(tmp_path, late=False)
    found.step()
    return found


def _post(live: Process, **more: Any) -> str:
    answer = live.post("/api/messages", {**WORDS, **more})
    assert answer.status == 201, answer.body
    return str(answer.json()["message"]["id"])


def _state(live: Process, message_id: str) -> tuple[str, list[str]]:
    listed = live.get("/api/messages").json()["messages"]
    [found] = [one for one in listed if one["id"] == message_id]
    return found["state"], found["read_by"]


def _times(client: Client, message_id: str) -> int:
    tag = message_id.replace("-", "")[-12:]
    return sum(text.count(tag) for text in client.seen)


def test_a_message_on_the_server_is_said_by_the_next_hook_of_another_machine_once(
    live: Process, server: TeamServer, client: Client
) -> None:
    to_one, to_all = _post(live, to_agent="s1"), _post(live)
    for_others = _post(live, to_agent="s2")
    assert forward(server, LocalSource()).messages == 2
    assert _state(live, to_one) == ("waiting", []), "given is not said"
    for _ in range(4):
        client.step()
        assert forward(server, LocalSource()).messages == 0
    assert [_times(client, one) for one in (to_one, to_all, for_others)] == [1, 1, 0]
    assert _state(live, to_one) == ("confirmed", ["s1"])
    assert _state(live, to_all) == ("confirmed", ["s1"])
    assert _state(live, for_others) == ("waiting", [])
    assert not outbox.is_there(client.folder), "nothing is left to tell"


def test_what_was_said_is_told_though_the_session_has_ended_since(
    live: Process, server: TeamServer, client: Client
) -> None:
    sent = _post(live, to_agent="s1")
    forward(server, LocalSource())
    client.step()
    places.close_window(client.folder)
    later = _post(live, to_agent="s1")
    assert forward(server, LocalSource()).messages == 0
    assert _state(live, sent) == ("confirmed", ["s1"])
    assert _state(live, later) == ("waiting", [])


def test_a_message_of_the_board_here_that_the_server_has_too_is_one(
    live: Process, server: TeamServer, client: Client, sqlite_url: str
) -> None:
    """The server's database is also this machine's."""
    sent = _post(live, to_agent="s1")
    store = Store.open(sqlite_url)
    try:
        for _ in range(3):
            outboxes.hand_out(store, row_times.now_ms())
            forward(server, LocalSource())
            outboxes.settle(store, row_times.now_ms())
            client.step()
        assert _times(client, sent) == 1
        assert forward(server, LocalSource()).messages == 0
        outboxes.settle(store, row_times.now_ms())
        assert _state(live, sent) == ("confirmed", ["s1"])
    finally:
        store.close()


@pytest.mark.requirement("U3")
def test_a_user_posts_for_agents_of_any_machine(
    live: Process,
    server: TeamServer,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", server.url)
    monkeypatch.setenv("HOLDFAST_SERVER_TOKEN", TOKEN)
    for place, words in (("p", []), ("q", []), ("q", ["--to", "s1"])):
        (tmp_path / place).mkdir(exist_ok=True)
        with chdir(tmp_path / place):
            said = _board("post", "task.failed", f"changed in {place} {words}", "--team", *words)
        assert "within a minute" in said.stdout, said.stderr
    assert json.loads(_board("list", "--everywhere", "--json").stdout)["total"] == 0
    assert forward(server, LocalSource()).messages == 1, (
        "only that to one agent is for this project"
    )
    client.step()
    client.step()
    assert sum(text.count("changed in q [") for text in client.seen) == 1


def _board(*arguments: str) -> Any:
    return run("board", *arguments)

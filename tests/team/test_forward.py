"""Forwarding to a team's server: in order, exactly once, whatever the server does."""

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from holdfast.files.lock import hold_file
from holdfast.hub import row_times
from holdfast.hub.store.store import Store
from holdfast.hub.team import connection
from holdfast.hub.team import forward as sending
from holdfast.hub.team.connection import NoServer, TeamServer
from holdfast.hub.team.forward import forward
from holdfast.wire import places
from tests.api.live import TOKEN
from tests.team.fakes import Source, arrived
from tests.team.strangers import answering

pytestmark = pytest.mark.requirement("S4")


def _source(**deeds: int) -> Source:
    return Source({name: list(range(n)) for name, n in deeds.items()})


def test_everything_arrives_once_and_in_order(server: TeamServer, store: Store) -> None:
    told = _source(a=35, b=7, c=0)
    done = forward(server, told)
    assert (done.batches, done.whole, done.words) == (5, True, "")
    assert store.read(arrived) == {"a": list(range(35)), "b": list(range(7))}
    assert forward(server, told).batches == 0
    told.deeds["b"] += [7, 8]
    assert forward(server, told).batches == 1
    assert store.read(arrived)["b"] == list(range(9))


def test_what_this_side_forgot_is_sent_again_from_the_beginning(
    server: TeamServer, store: Store, own_home: Path
) -> None:
    told = _source(a=35)
    forward(server, told)
    for one in (own_home / ".holdfast" / "forwarded").iterdir():
        one.unlink()
    told.deeds["a"] += [35]
    assert forward(server, told).batches == 4, "the real intake has each of these rows already"
    assert store.read(arrived) == {"a": sorted([*range(35), *range(36)])}
    assert forward(server, told).batches == 0
    for broken in (b"", b"[]", b"{", b'{"server": 1}', b"\xff" * 100):
        for one in (own_home / ".holdfast" / "forwarded").iterdir():
            one.write_bytes(broken)
        assert forward(server, told).whole


def _unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_a_server_that_is_down_is_left_alone_for_a_minute() -> None:
    nobody = TeamServer(f"http://127.0.0.1:{_unused_port()}", TOKEN)
    done = forward(nobody, _source(a=3))
    assert (done.batches, done.whole) == (0, False)
    assert "does not answer" in done.words
    known = connection.health(nobody.url)
    assert known.is_down(known.tried_ms + 59_000)
    assert not known.is_down(known.down_until_ms)
    assert not known.is_down(known.tried_ms - 3_600_000), "a clock that was set back"
    assert not connection.health("http://another").words


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CALL_SECONDS", 0.2)
    with answering() as server:
        assert not forward(server, _source(a=3)).whole
        assert connection.health(server.url).is_down(row_times.now_ms())


def test_what_the_server_refuses_holds_up_no_other_source(server: TeamServer, store: Store) -> None:
    class Odd(Source):
        def encode(self, batch: object, since: dict[str, Any]) -> bytes:
            data = super().encode(batch, since)
            return data.replace(b'"version": 1', b'"version": 9') if b'"odd"' in data else data

    told = Odd({"a": [0], "odd": [0], "z": [0]})
    done = forward(server, told)
    assert (done.batches, done.whole) == (2, False)
    assert done.words.startswith("odd is refused: 400")
    assert store.read(arrived) == {"a": [0], "z": [0]}
    assert list(connection.health(server.url).refused) == ["odd"]
    told.deeds["z"] += [1]
    assert forward(server, told, seconds=30).batches == 1, "it rests for an hour"


def test_time_that_runs_out_goes_on_where_it_ended(
    server: TeamServer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LEAST_SECONDS", 60.0)
    told = _source(a=30, b=30)
    done = forward(server, told, seconds=0.0)
    assert not done.whole
    rounds = 0
    while not forward(server, told, seconds=0.02).whole:
        rounds += 1
        assert rounds < 500
    assert store.read(arrived) == {"a": list(range(30)), "b": list(range(30))}


def test_one_process_sends_at_a_time(server: TeamServer) -> None:
    with hold_file(f"{places.home()}/forward.lock", 0) as is_alone:
        assert is_alone
        assert forward(server, _source(a=1)).words == "another process is sending"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h",
        "http://team.example",
        "https://",
        "team.example:3847",
        "https://u:p@h/",
        "http://10.0.0.1",
    ],
)
def test_an_address_that_would_be_unsafe_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", url)
    monkeypatch.setenv("HOLDFAST_SERVER_TOKEN", TOKEN)
    with pytest.raises(NoServer):
        connection.server()


def test_a_token_comes_from_the_environment_or_an_owner_only_file(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER", "https://team.example/")
    with pytest.raises(NoServer, match="no token"):
        connection.server()
    path = own_home / ".holdfast" / "server-token"
    path.parent.mkdir()
    path.write_text("x" * 32 + "\n")
    path.chmod(0o600)
    assert connection.server() == TeamServer("https://team.example", "x" * 32)
    monkeypatch.setenv("HOLDFAST_SERVER_TOKEN", TOKEN)
    assert connection.server().token == TOKEN


def test_certificates_are_verified(tmp_path: Path) -> None:
    import ssl

    from tests.api.test_serve import a_certificate

    a_certificate(tmp_path / "c.pem", tmp_path / "k.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    listener = socket.create_server(("127.0.0.1", 0))
    with context.wrap_socket(listener, server_side=True) as safe:
        thread = threading.Thread(target=_accept_one, args=(safe,), daemon=True)
        thread.start()
        url = f"https://127.0.0.1:{safe.getsockname()[1]}"
        done = forward(TeamServer(url, TOKEN), _source(a=1))
        thread.join(5)
    assert "certificate verify failed" in done.words.lower()


def _accept_one(listener: socket.socket) -> None:
    with suppress(OSError):
        listener.accept()[0].close()

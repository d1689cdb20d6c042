"""Who sends slowly, or only holds on, is let go; and nobody else notices."""

import resource
import socket
import threading
from collections.abc import Iterator

import pytest

from holdfast.api import gate, server
from holdfast.hub.store.store import Store
from tests.api.live import TOKEN, Live, in_thread

pytestmark = pytest.mark.requirement("X5", "X7")
HEAD = f"POST /api/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
HEAD += "Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n"


@pytest.fixture
def live(sqlite_url: str) -> Iterator[Live]:
    store = Store.open(sqlite_url)
    with in_thread(store) as found:
        yield found
    store.close()


def _connected(live: Live) -> socket.socket:
    return socket.create_connection(("127.0.0.1", live.port), timeout=60)


def _drip(wire: socket.socket, over: threading.Event) -> None:
    try:
        while not over.wait(0.02):
            wire.sendall(b" ")
    except OSError:
        pass


def test_a_body_that_drips_on_is_given_up_as_a_whole(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.5)
    over = threading.Event()
    with _connected(live) as wire:
        wire.sendall(HEAD.encode())
        dripping = threading.Thread(target=_drip, args=(wire, over))
        dripping.start()
        try:
            assert wire.recv(65536).startswith(b"HTTP/1.1 408 ")
        finally:
            over.set()
            dripping.join()


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nX-Slow: "])
def test_a_head_that_never_ends_is_given_up(
    live: Live, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    with _connected(live) as wire:
        wire.sendall(begun)
        assert wire.recv(65536) == b""


IDLE = {
    "half a head": b"GET / HTTP/1.1\r\nX-Slow: ",
    "an open page": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n",
}


@pytest.fixture
def many_files() -> Iterator[None]:
    """Both ends of 650 connections lie in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4_096:
        pytest.skip(f"this process may open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4_096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("begun", IDLE.values(), ids=IDLE)
def test_who_knows_the_token_gets_in_past_600_that_only_hold_on(live: Live, begun: bytes) -> None:
    held = [_connected(live) for _ in range(server.MOST_CONNECTIONS)]
    try:
        for one in held:
            one.sendall(begun)
        assert live.get("/api/projects").status == 200
        more = [_connected(live) for _ in range(50)]
        assert live.get("/api/projects").status == 200
        held += more
    finally:
        for one in held:
            one.close()

"""The team's server: its address, whether it answered lately, and a call to it.

Nothing here is imported unless a server is configured. A call ends after five seconds at most, and
a server that failed is not called for a minute.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from holdfast.settings import load as settings_load
from holdfast.settings import secret_file
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from http.client import HTTPConnection

CONNECT_SECONDS, CALL_SECONDS = 1.0, 5.0
DOWN_MS, EVERY_MS = 60_000, 10_000
MOST_ANSWER = 4 << 20
LOCAL = ("localhost", "127.0.0.1", "::1")


class NoServer(HoldfastError):
    exit_code = 2
    hint = 'name it: HOLDFAST_SERVER=https://host:3847, or server = "…" in settings.toml'


class NoAnswer(HoldfastError):
    """The server is down, slow or did not understand; everything waits to be sent later."""

    exit_code = 5
    hint = "nothing is lost: it is sent when the server answers again"


@dataclass(frozen=True, slots=True)
class TeamServer:
    url: str
    token: str


class ConnectionHealth(msgspec.Struct):
    """What is saved about the server between two attempts, in server.json."""

    url: str = ""
    tried_ms: int = 0
    answered_ms: int = 0
    down_until_ms: int = 0
    words: str = ""
    sent: int = 0
    refused: dict[str, int] = {}  # source: do not send it before this time

    def is_down(self, now_ms: int) -> bool:
        return now_ms < self.down_until_ms <= now_ms + 2 * DOWN_MS  # else the clock was set back


def address() -> str:
    """Return the server's address, or an empty string if there is none."""
    return settings_load.load().word("server").strip().rstrip("/")


def is_due(now_ms: int) -> bool:
    """Return whether to call the server now. Asked before any expensive import."""
    known = health(address())
    return not known.is_down(now_ms) and not 0 <= now_ms - known.tried_ms < EVERY_MS


def server() -> TeamServer:
    url = address()
    if not url:
        raise NoServer("no team server is named")
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it validates it
    except ValueError:  # the address is not shown: it may hold a password
        raise NoServer("that is no address of a server") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise NoServer(f"{parts.scheme or 'this'}://{parts.hostname or '…'} is no address")
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        raise NoServer(f"http://{parts.hostname} would carry the token in the open: use https")
    return TeamServer(url, token())


def token() -> str:
    """Read the token from `HOLDFAST_SERVER_TOKEN`, or from an owner-only file of Holdfast."""
    given = os.environ.get("HOLDFAST_SERVER_TOKEN")
    if given:
        return secret_file.usable(given, "HOLDFAST_SERVER_TOKEN")
    path = Path(places.home()) / "server-token"
    found = secret_file.read(path)
    if not found:
        raise NoServer(f"no token: set HOLDFAST_SERVER_TOKEN, or write it to {path} (chmod 600)")
    return found


def health(url: str) -> ConnectionHealth:
    """Load the server's health; start fresh if it is unreadable or belongs to another server."""
    try:
        found = msgspec.json.decode(places.read_small(_file(), 1 << 20), type=ConnectionHealth)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ConnectionHealth(url)
    return found if found.url == url else ConnectionHealth(url)


def remember(found: ConnectionHealth) -> None:
    Path(places.home()).mkdir(0o700, parents=True, exist_ok=True)
    places.replace_whole(_file(), msgspec.json.encode(found))


def call(
    server: TeamServer, path: str, body: bytes, seconds: float | None = None
) -> tuple[int, Any]:
    """POST; return the status and answer. On its own thread: a name lookup may never end."""
    seconds = CALL_SECONDS if seconds is None else seconds
    found: list[Any] = []
    connection = _connection(server)

    def run_exchange() -> None:
        try:
            found.append(_exchange(connection, server, path, body, seconds))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run_exchange, daemon=True)
    thread.start()
    thread.join(seconds)
    connection.close()
    if not found:
        raise NoAnswer(f"{server.url} did not answer in {seconds:.2g} seconds")
    if isinstance(found[0], Exception):
        raise NoAnswer(f"{server.url} does not answer: {found[0]}") from found[0]
    answer: tuple[int, Any] = found[0]
    return answer


def _exchange(
    connection: HTTPConnection, server: TeamServer, path: str, body: bytes, seconds: float
) -> tuple[int, Any]:
    connection.connect()
    if connection.sock is not None:
        connection.sock.settimeout(seconds)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    connection.request("POST", urlsplit(server.url).path + path, body, headers)
    answer = connection.getresponse()
    data = answer.read(MOST_ANSWER)
    try:
        return answer.status, json.loads(data)
    except (ValueError, RecursionError):
        return answer.status, None


def _connection(server: TeamServer) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection

    parts = urlsplit(server.url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "http":
        return HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    import ssl

    context = ssl.create_default_context()  # verifies; SSL_CERT_FILE names another authority
    return HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=context)


def _file() -> str:
    return f"{places.home()}/server.json"

"""How a program or a browser of this machine gets in: the token, and tickets for it.

A page in a browser cannot read the file that holds the token. A program that can, such as `holdfast
ui`, requests a ticket and opens a link with it; the page sends the ticket and gets the token. The
ticket is in the fragment of the link, which no browser sends to a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from holdfast.api.gate import PLACE, Token
from holdfast.files import lock
from holdfast.settings import secret_file
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

GOOD_SECONDS = 300.0
MOST_TICKETS = 100


@dataclass(slots=True)
class Tickets:
    """Valid tickets, by hash: each works once, for five minutes."""

    token: Token | None = None
    out: dict[bytes, float] = field(default_factory=dict)

    def new(self) -> str:
        ticket = secrets.token_urlsafe(24)
        self.out[_hashed(ticket)] = time.monotonic() + GOOD_SECONDS
        while len(self.out) > MOST_TICKETS:
            del self.out[next(iter(self.out))]
        return ticket

    def take(self, ticket: str) -> bool:
        until = self.out.pop(_hashed(ticket), 0.0)
        return time.monotonic() < until

    def current_token(self) -> str:
        """The token; empty if the server needs none."""
        return self.token() if callable(self.token) else self.token or ""


def _hashed(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "replace")).digest()


def link(base: str, ticket: str) -> str:
    return f"{base.rstrip('/')}{PLACE}#/login?ticket={ticket}"


def token_file() -> Path:
    return Path(places.home()) / "token"


def lock_file(port: int) -> Path:
    """The lock that the server of this home holds: no other program gets the token."""
    return Path(places.home()) / f"serve-{port}.lock"


def held_ports() -> list[int]:
    """The ports on which servers of this home run."""
    files = Path(places.home()).glob("serve-*.lock")
    ports = sorted(int(file.stem[6:]) for file in files if file.stem[6:].isdecimal())
    return [port for port in ports if lock.is_held(str(lock_file(port)))]


def needs_token() -> bool:
    return os.environ.get("HOLDFAST_API_AUTH", "").strip().lower() != "off"


def token() -> Token:
    """Return `HOLDFAST_API_TOKEN`, else our file's content at each request."""
    given = os.environ.get("HOLDFAST_API_TOKEN")
    if given is not None:
        return secret_file.usable(given, "HOLDFAST_API_TOKEN")
    secret_file.read_or_create(token_file())
    return secret_file.SecretFile(token_file()).now


PATIENCE_SECONDS = 10.0
LOCK_SECONDS = 1.0


class NoLink(HoldfastError):
    """A program listens on the port and gives no link."""

    exit_code = 5


def link_or_serve(port: int, serve: Callable[[], None], *, on_any_port: bool = False) -> str:
    """Return a link from the running server; if none runs, serve until the end and return no
    link. If two start at once, the one that does not get the port asks the other."""
    found = (_link_of_any() if on_any_port else "") or running_link(port)
    if found:
        return found
    try:
        serve()
    except HoldfastError:
        found = running_link(port)
        if not found:
            raise
    return found


def _link_of_any() -> str:
    """Return a link from the first server of this home that gives one."""
    for port in held_ports():
        with suppress(NoLink):  # one with TLS or another token
            if found := running_link(port):
                return found
    return ""


def running_link(port: int) -> str:
    """Return a link that works once; empty if nothing listens on this port of 127.0.0.1.

    The token is sent only to the server that holds the lock of this home: another program or user
    on that port would take it, and could show a link of its own.
    """
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.connect()
        if not _is_ours(port):
            raise _strange(port)
        connection.request("POST", "/api/login/tickets", headers=_headers())
        answer = connection.getresponse()
        return _link(answer.status, answer.read(1 << 16), port)
    except ConnectionRefusedError:
        return ""
    except (OSError, HTTPException) as error:
        raise _strange(port) from error
    finally:
        connection.close()


def _is_ours(port: int) -> bool:
    """Try for a moment: a server that has just started to listen is about to take the lock."""
    until = time.monotonic() + LOCK_SECONDS
    while not lock.is_held(str(lock_file(port))):
        if time.monotonic() >= until:
            return False
        time.sleep(lock.POLL_SECONDS)
    return True


def _headers() -> dict[str, str]:
    token = os.environ.get("HOLDFAST_API_TOKEN") or secret_file.read(token_file())
    return {"Authorization": f"Bearer {token}"} if token else {}


def _link(status: int, body: bytes, port: int) -> str:
    if status == 401:
        words = f"the server on port {port} does not take the token of this machine"
        raise NoLink(words, "was it started with HOLDFAST_API_TOKEN?")
    try:
        found = json.loads(body)["link"] if status == 201 else None
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str):
        raise _strange(port)
    return found


def _strange(port: int) -> NoLink:
    words = f"what listens on port {port} is no Holdfast of yours, or an older one"
    hint = f"restart it if it is yours; else another port: holdfast ui --port {port + 1}"
    return NoLink(words, hint)

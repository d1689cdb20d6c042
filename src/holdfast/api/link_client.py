"""Get a link to the dashboard from a server that already runs on this machine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

from holdfast.api import server
from holdfast.api.address import PortTaken
from holdfast.files import lock
from holdfast.settings import secret_file
from holdfast.wire.errors import HoldfastError

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
    except PortTaken:
        found = running_link(port)
        if not found:
            raise
    return found


def _link_of_any() -> str:
    """Return a link from the first server of this home that gives one."""
    for port in server.held_ports():
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
    while not lock.is_held(str(server.lock_file(port))):
        if time.monotonic() >= until:
            return False
        time.sleep(lock.POLL_SECONDS)
    return True


def _headers() -> dict[str, str]:
    token = os.environ.get("HOLDFAST_API_TOKEN") or secret_file.read(server.token_file())
    return {"Authorization": f"Bearer {token}"} if token else {}


def _link(status: int, body: bytes, port: int) -> str:
    if status == 401:
        error = NoLink(f"the server on port {port} does not take the token of this machine")
        error.hint = "was it started with HOLDFAST_API_TOKEN?"
        raise error
    try:
        found = json.loads(body)["link"] if status == 201 else None
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str):
        raise _strange(port)
    return found


def _strange(port: int) -> NoLink:
    error = NoLink(f"what listens on port {port} is no Holdfast of yours, or an older one")
    error.hint = f"restart it if it is yours; else another port: holdfast ui --port {port + 1}"
    return error

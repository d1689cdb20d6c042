"""A real server on loopback: in a thread for what goes over the wire, as a process for the rest."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from holdfast.api.app import create, put_behind
from holdfast.api.gate import Gate, Rules
from holdfast.api.routes.events import MOST_LISTENERS, Hub
from holdfast.api.server import Connection
from holdfast.hub.store.engine import open_engine
from holdfast.hub.store.store import Store
from tests.waiting import PATIENCE_SECONDS
from tests.waiting import until as until

TOKEN = "a-token-for-tests"


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Live:
    """How to speak to a server, wherever it runs."""

    port: int
    token: str = TOKEN
    log: list[str] = field(default_factory=list)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        sent = {"Authorization": f"Bearer {self.token}"}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        try:
            connection.request(method, path, data, {n: v for n, v in sent.items() if v})
            found = connection.getresponse()
            return Answered(found.status, dict(found.getheaders()), found.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answered:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Answered:
        return self.ask("POST", path, body, headers)

    def raw(self, data: bytes, timeout: float = 30) -> bytes:
        """Bytes as they are, for what no client library would send; all that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as wire:
            with suppress(BrokenPipeError, ConnectionResetError):
                wire.sendall(data)
            found = b""
            with suppress(ConnectionResetError, TimeoutError):
                while part := wire.recv(65536):
                    found += part
            return found

    @contextmanager
    def listening(self, query: str = "", **headers: str) -> Iterator[Heard]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        sent = {"Authorization": f"Bearer {self.token}", "Accept": "text/event-stream"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", f"/api/events{query}", headers=sent)
        found = connection.getresponse()
        try:
            yield Heard(found)
        finally:
            found.close()
            connection.close()


@dataclass(slots=True)
class Heard:
    answer: http.client.HTTPResponse

    def block(self) -> dict[str, str]:
        """The next block of the stream, comments as `:`; empty where it ended."""
        found: dict[str, str] = {}
        while line := self.answer.readline().decode():
            if line == "\n":
                return found
            name, _, value = line.rstrip("\n").partition(":")
            found[name or ":"] = value.strip()
        return found

    def event(self) -> dict[str, Any]:
        """The next event's data."""
        while block := self.block():
            if "data" in block:
                return {"event": block["event"], **json.loads(block["data"])}
        raise AssertionError("the stream ended")


@cache
def _routes() -> FastAPI:
    """Made once per worker: they cost more than most tests."""
    return create(Store(open_engine("sqlite:///never-opened.db")))


def app_on(store: Store) -> FastAPI:
    """The application, as `create` would have made it for this store."""
    app = _routes()
    put_behind(app, store)
    return app


@contextmanager
def in_thread(
    store: Store,
    rules: Rules | None = None,
    *,
    most_listeners: int = MOST_LISTENERS,
    http: type[Connection] = Connection,
) -> Iterator[Live]:
    app = app_on(store)
    app.state.hub = Hub(store, most_listeners)
    config = uvicorn.Config(
        Gate(app, rules or Rules(token=TOKEN)),
        http=http,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            until(lambda: server.started)
            yield Live(listener.getsockname()[1])
        finally:
            app.state.hub.stop()
            server.should_exit = True
            thread.join()


@dataclass(slots=True)
class Process(Live):
    process: subprocess.Popen[str] | None = None
    reader: threading.Thread | None = None

    def kill(self, sig: int = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(sig)
        return self.wait()

    def wait(self) -> int:
        assert self.process is not None
        code = self.process.wait(PATIENCE_SECONDS)
        if self.reader is not None:
            self.reader.join(PATIENCE_SECONDS)
        return code


MAIN = [sys.executable, "-c", "from holdfast.cli.main import main; main()"]


@contextmanager
def as_process(
    database: str,
    *arguments: str,
    port: int = 0,
    program: list[str] | None = None,
    environ: Mapping[str, str] | None = None,
    given_token: bool = True,
) -> Iterator[Process]:
    """`holdfast serve` as users start it; killed at the end if it still runs."""
    command = [*(program or MAIN), "serve", "--port", str(port), "--database", database]
    process = subprocess.Popen(
        [*command, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            **({"HOLDFAST_API_TOKEN": TOKEN} if given_token else {}),
            **(environ or {}),
        },
    )
    found = Process(0, process=process)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            found.log.append(line.rstrip())
            if said := re.match(r"serving https?://\S+:(\d+),", line):
                found.port = int(said[1])
                break
        else:
            raise AssertionError(f"it did not start: {found.log}")
        found.reader = threading.Thread(target=_drain, args=(process, found.log), daemon=True)
        found.reader.start()
        yield found
    finally:
        process.kill()
        found.wait()
        process.stderr.close()


def _drain(process: subprocess.Popen[str], log: list[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line.rstrip())  # noqa: PERF401 (others read it meanwhile)


def run(*arguments: str, environ: Mapping[str, str] | None = None) -> Any:
    """One command, to its end."""
    return subprocess.run(
        [*MAIN, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env={**os.environ, **(environ or {})},
    )


def a_url(path: Path) -> str:
    return f"sqlite:///{path}"

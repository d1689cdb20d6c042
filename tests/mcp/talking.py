"""A client of our server, as plain as can be: lines out, lines in, every one of them checked."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import holdfast
from tests.mcp.asking import Asking

ENTRY = Path(holdfast.__file__).parent / "mcp" / "__main__.py"
COMMAND = [sys.executable, "-I", str(ENTRY)]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
# Of a client that greets nobody and says with each question which protocol it speaks.
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": HELLO["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": {},
}
END_SECONDS = 30


class Talk(Asking):
    """One connection; whatever the server prints that is not the protocol fails the test."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._asked = 0

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        self._asked += 1
        self._write({"id": self._asked, "method": method, "params": dict(params or {})})
        return self._asked

    def hear(self, number: int) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            said = json.loads(self.process.stdout.readline())
            assert said["jsonrpc"] == "2.0"
            if said.get("id") == number:
                found: dict[str, Any] = said.get("result") or {"error": said["error"]}
                return found

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self.hear(self.send(method, params))

    def greet(self) -> dict[str, Any]:
        found = self.ask("initialize", HELLO)
        self._write({"method": "notifications/initialized"})
        return found

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def write_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def _write(self, message: dict[str, Any]) -> None:
        self.write_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())


@contextmanager
def talking(project: Path, session: str = "s1", *, modern: bool = False) -> Iterator[Talk]:
    """A server as the client starts it, greeted; or asked for its tools at once, as of 2.1.325."""
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")}
    environ |= {"CLAUDE_PROJECT_DIR": str(project), "CLAUDE_CODE_SESSION_ID": session}
    environ |= {n: v for n, v in os.environ.items() if n.startswith("HOLDFAST_")}
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, cwd=project, env=environ) as process:
        talk = Talk(process)
        try:
            if modern:
                assert talk.ask("tools/list", {"_meta": MODERN})["tools"]
            else:
                talk.greet()
            yield talk
        finally:
            process.kill()


def ended(pid: int) -> bool:
    """Waits for a process that need not be ours to be gone."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], END_SECONDS)[0])
    finally:
        os.close(fd)

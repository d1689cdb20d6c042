"""Start an MCP server as the client would, ask for its tools, and see it end."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from holdfast.setup.doctor.hooks import surroundings

TRIAL_SECONDS = 30.0
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "holdfast-doctor", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Started:
    """One server, from its start to its end; `trouble` says what it did not do."""

    path: str
    ok: bool
    milliseconds: float
    tools: tuple[str, ...]
    trouble: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def start(path: Path, entry: dict[str, Any]) -> Started:
    """In a HOLDFAST_HOME of its own, so that no real session is touched."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        tools, trouble = _tried([entry["command"], *entry["args"]], Path(folder))
    milliseconds = round((time.perf_counter() - begun) * 1000, 1)
    return Started(str(path), not trouble, milliseconds, tools, trouble)


def _tried(command: list[str], folder: Path) -> tuple[tuple[str, ...], str]:
    pipe = subprocess.PIPE
    try:
        server = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=surroundings(folder)
        )
    except (OSError, ValueError) as slip:
        return (), f"does not start: {slip}"
    last = threading.Timer(TRIAL_SECONDS, server.kill)
    last.start()
    try:
        return _talked(server)
    finally:
        last.cancel()
        server.kill()
        with contextlib.suppress(BrokenPipeError), server:  # what was not sent is of no use
            pass


def _talked(server: subprocess.Popen[bytes]) -> tuple[tuple[str, ...], str]:
    assert server.stdin and server.stdout and server.stderr
    try:
        _ask(server.stdin, server.stdout, 1, "initialize", HELLO)
        _send(server.stdin, {"method": "notifications/initialized"})
        listed = _ask(server.stdin, server.stdout, 2, "tools/list", {})
        tools = tuple(str(tool["name"]) for tool in listed["tools"])
        server.stdin.close()
    except (OSError, ValueError, KeyError, TypeError):
        server.kill()
        said = server.stderr.read().decode("utf-8", "replace").strip()
        return (), (said.splitlines()[-1][:300] if said else "did not answer as a server does")
    try:
        server.wait(TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        return tools, "did not end with its input"
    return tools, "" if tools else "has no tools"


def _ask(
    sending: IO[bytes], hearing: IO[bytes], number: int, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    _send(sending, {"id": number, "method": method, "params": params})
    while True:
        said = json.loads(hearing.readline())
        if said.get("id") == number:
            result: dict[str, Any] = said["result"]
            return result


def _send(sending: IO[bytes], message: dict[str, Any]) -> None:
    sending.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sending.flush()

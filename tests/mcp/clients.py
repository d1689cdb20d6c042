"""Two clients of the tools with one interface.

`DirectClient` calls the tools in this process. `StdioClient` talks to a real server, which costs a
second of CPU to start, and checks every line.
"""

import json
import os
import select
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import holdfast
from holdfast.mcp.answers import AnswerPages
from holdfast.mcp.server import call
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire

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


class ToolClient(ABC):
    @abstractmethod
    def call(self, tool: str, **arguments: Any) -> dict[str, Any]: ...

    def good(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = self.call(tool, **arguments)
        assert not found.get("isError"), found
        structured: dict[str, Any] = found["structuredContent"]
        return structured

    def bad(self, tool: str, **arguments: Any) -> str:
        found = self.call(tool, **arguments)
        assert found["isError"], found
        return str(found["content"][0]["text"])


def a_session(
    project: Path, *lines: dict[str, Any], session: str = "s1", used: int = 50_000
) -> Path:
    """A session our hooks have heard of: a transcript, and a window that was judged."""
    told = lines or (a_prompt("never touch the tide tables"), an_answer(used))
    path = a_transcript(project / f"{session}.jsonl", *told)
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    fire("SessionStart", path, session=session, source="startup", environ=environ)
    fire("PostToolUse", path, session=session, environ=environ)
    return path


class DirectClient(ToolClient):
    def __init__(self) -> None:
        self._pages = AnswerPages()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        said = call(self._pages, tool, arguments)
        content = {"content": [{"type": "text", "text": said.words}]}
        if said.found is None:
            return {**content, "isError": True}
        return {**content, "structuredContent": said.found}


class StdioClient(ToolClient):
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
def talking(project: Path, session: str = "s1", *, modern: bool = False) -> Iterator[StdioClient]:
    """A server as the client starts it, greeted; or asked for its tools at once, as of 2.1.325."""
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")}
    environ |= {"CLAUDE_PROJECT_DIR": str(project), "CLAUDE_CODE_SESSION_ID": session}
    environ |= {n: v for n, v in os.environ.items() if n.startswith("HOLDFAST_")}
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, cwd=project, env=environ) as process:
        talk = StdioClient(process)
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

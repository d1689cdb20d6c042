"""The server's life: started by the client, ended with it; stdout is the protocol's alone."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

import msgspec

from holdfast.mcp import lifeline, protocol
from holdfast.mcp.active_calls import Calls
from holdfast.mcp.background import Beside
from holdfast.mcp.call_tool import Said, call
from holdfast.mcp.continuations import Pages
from holdfast.mcp.protocol import Message, ProtocolError, Request
from holdfast.mcp.tool_table import TOOLS
from holdfast.window import history
from holdfast.wire import log

MOST_AT_ONCE = 4
CANCELLED = "notifications/cancelled"
CallTool = Callable[[Pages, str, dict[str, Any]], Said]


def serve(parent: int = 0) -> None:
    """Answer on stdin and stdout until the input ends, nobody reads us, or the client (`parent`)
    is gone."""
    os.umask(0o077)
    lifeline.hold(parent or os.getppid(), 1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # all we write is whole or not there
    history.follow()
    lines, answers = _own_streams()
    calls = Calls()
    background = Beside(calls)
    server = Server(answers, calls, background.start)
    try:
        for line in lines:
            server.take(line)
    except OSError as slip:  # the client closed what we were writing to
        log.add("WARN", "mcp", f"ended: {slip!r}")
    background.stop()
    os._exit(0)  # a tool that is still at work ends here: nobody waits for its answer


class Server:
    """Answers lines. Tools run in threads: a slow call holds up no other, nor the end."""

    def __init__(
        self, answers: int, calls: Calls, begin: Callable[[], None], call_tool: CallTool = call
    ) -> None:
        self._answers, self._calls, self._begin = answers, calls, begin
        self._call_tool, self._pages = call_tool, Pages()
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "holdfast-tool")
        self._writing = threading.Lock()
        self._running: set[protocol.RequestId] = set()

    def take(self, line: bytes) -> None:
        request = protocol.parse(line)
        if isinstance(request, list):
            return self._send(*request)
        # A client of protocol 2026-07-28 greets nobody (seen with Claude Code 2.1.325), so
        # whatever it says first is the beginning of its session.
        self._begin()
        if not request.is_question:
            return self._note(request)
        try:
            if request.method != "tools/call":
                result = protocol.answer(request, _list_tools)
                return self._send(protocol.success(request, result))
            name, arguments = protocol.tool_call(request)
        except ProtocolError as slip:
            return self._send(protocol.failure(request.id, slip))
        self._running.add(request.id)
        self._threads.submit(self._call, request, name, arguments)

    def _note(self, request: Request) -> None:
        """A cancelled call gets no answer; what its tool does is bounded anyway."""
        cancelled = request.params.get("requestId")
        if request.method == CANCELLED and isinstance(cancelled, str | int):
            self._running.discard(cancelled)

    def _call(self, request: Request, name: str, arguments: dict[str, Any]) -> None:
        with self._calls.one():
            said = self._call_tool(self._pages, name, arguments)
            if request.id in self._running:
                self._running.discard(request.id)
                self._send(protocol.success(request, _result(said)))

    def _send(self, *messages: Message) -> None:
        """One write for each line, whole: the client reads them one by one."""
        for message in messages:
            data = msgspec.json.encode(message) + b"\n"
            with self._writing:
                while data:
                    data = data[os.write(self._answers, data) :]


def _list_tools() -> list[Message]:
    return [tool.listed for tool in TOOLS.values()]


def _result(said: Said) -> Message:
    content = [{"type": "text", "text": said.words}]
    if said.found is None:
        return {"content": content, "isError": True}
    return {"content": content, "structuredContent": said.found}


def _own_streams() -> tuple[BinaryIO, int]:
    """stdin and stdout for the protocol alone: a process that a tool starts gets neither, and what
    a library prints goes to stderr."""
    lines = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    answers = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(lines, "rb"), answers

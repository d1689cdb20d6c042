"""The MCP server on stdin and stdout. Claude Code starts it, and it exits together with it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

import msgspec

from holdfast.mcp import protocol
from holdfast.mcp.answers import AnswerPages
from holdfast.mcp.background import BackgroundWork
from holdfast.mcp.protocol import Message, ProtocolError, RpcRequest
from holdfast.mcp.tool_calls import ActiveCalls, CallResult, call
from holdfast.mcp.tool_table import TOOLS
from holdfast.window import history
from holdfast.wire import log

MAX_CALLS = 4
CANCELLED = "notifications/cancelled"
CallTool = Callable[[AnswerPages, str, dict[str, Any]], CallResult]
LOOK_MS = 1000


def serve(parent: int = 0) -> None:
    """Answer until stdin ends, stdout has no reader, or the client (process `parent`) is gone."""
    os.umask(0o077)
    exit_with_client(parent or os.getppid(), 1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # safe: everything we write is complete or absent
    history.follow()
    lines, answers = _own_streams()
    calls = ActiveCalls()
    background = BackgroundWork(calls)
    server = McpServer(answers, calls, background.start)
    try:
        for line in lines:
            server.handle(line)
    except OSError as slip:  # the client closed our stdout
        log.add("WARN", "mcp", f"ended: {slip!r}")
    background.stop()
    os._exit(0)  # do not wait for running tools: nobody reads their answers


class McpServer:
    """Answers lines. Tools run in threads, so a slow call delays neither others nor the exit."""

    def __init__(
        self,
        answers: int,
        calls: ActiveCalls,
        begin: Callable[[], None],
        call_tool: CallTool = call,
    ) -> None:
        self._answers, self._calls, self._begin = answers, calls, begin
        self._call_tool, self._pages = call_tool, AnswerPages()
        self._threads = ThreadPoolExecutor(MAX_CALLS, "holdfast-tool")
        self._writing = threading.Lock()
        self._running: set[protocol.RequestId] = set()

    def handle(self, line: bytes) -> None:
        request = protocol.parse(line)
        if isinstance(request, list):
            return self._send(*request)
        # A client of protocol 2026-07-28 sends no `initialize` (seen with Claude Code 2.1.325), so
        # its first message of any kind starts the session.
        self._begin()
        if not request.is_question:
            return self._handle_notification(request)
        try:
            if request.method != "tools/call":
                result = protocol.answer(request, _list_tools)
                return self._send(protocol.success(request, result))
            name, arguments = protocol.tool_call(request)
        except ProtocolError as slip:
            return self._send(protocol.failure(request.id, slip))
        self._running.add(request.id)
        self._threads.submit(self._call, request, name, arguments)

    def _handle_notification(self, request: RpcRequest) -> None:
        """Drop the answer of a cancelled call. Its tool runs on; its time is limited anyway."""
        cancelled = request.params.get("requestId")
        if request.method == CANCELLED and isinstance(cancelled, str | int):
            self._running.discard(cancelled)

    def _call(self, request: RpcRequest, name: str, arguments: dict[str, Any]) -> None:
        with self._calls.one():
            said = self._call_tool(self._pages, name, arguments)
            if request.id in self._running:
                self._running.discard(request.id)
                self._send(protocol.success(request, _result(said)))

    def _send(self, *messages: Message) -> None:
        """Write each message as one complete line."""
        for message in messages:
            data = msgspec.json.encode(message) + b"\n"
            with self._writing:
                while data:
                    data = data[os.write(self._answers, data) :]


def _list_tools() -> list[Message]:
    return [tool.listed for tool in TOOLS.values()]


def _result(said: CallResult) -> Message:
    content = [{"type": "text", "text": said.words}]
    if said.found is None:
        return {"content": content, "isError": True}
    return {"content": content, "structuredContent": said.found}


def _own_streams() -> tuple[BinaryIO, int]:
    """Private copies of stdin and stdout. Child processes inherit neither, and what a library
    prints goes to stderr."""
    lines = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    answers = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(lines, "rb"), answers


def exit_with_client(parent: int, answers: int) -> None:
    """Exit this process as soon as `parent` exits or nobody can read `answers` any more.

    The end of stdin is not enough, because another child of the client may have inherited the pipe.
    `parent` was read at start-up: if the client died since then, our parent is now another process,
    which may live for ever.
    """
    wire = os.dup(answers)  # `_own_streams` replaces the descriptor
    threading.Thread(target=_exit_after, args=(parent, wire), name="lifeline", daemon=True).start()


def _exit_after(parent: int, wire: int) -> None:
    wait_for_end(parent, wire)
    os._exit(0)


def wait_for_end(parent: int, wire: int) -> None:
    """Return when the parent exits: told by the kernel if it can, else by checking each second."""
    waiting = select.poll()
    waiting.register(wire, 0)  # with no events asked for, poll still reports a closed reader
    try:
        waiting.register(os.pidfd_open(parent), select.POLLIN)
        pause = None
    except (AttributeError, OSError):
        pause = LOOK_MS
    while os.getppid() == parent and not waiting.poll(pause):
        pass

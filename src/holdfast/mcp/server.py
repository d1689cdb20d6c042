"""The MCP server on stdin and stdout. Claude Code starts it; it exits when Claude Code exits.

In the background it stores what hooks recorded, watches the sessions of this machine, and makes
vectors for recall. Only one process of the machine does each of these. The servers of other
sessions wait until that process ends, and import nothing for the work before.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from holdfast.files import lock
from holdfast.mcp import client_session, protocol
from holdfast.mcp.answers import AnswerPages, sanitize
from holdfast.mcp.protocol import Message, ProtocolError, RpcRequest
from holdfast.mcp.tool_table import TOOLS
from holdfast.settings import use_secret_patterns
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError, describe
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from holdfast.memory.sync import Filler
    from holdfast.watcher.loop import Watcher

MAX_ARGUMENTS_CHARS = 256 << 10
MAX_ERROR_CHARS = 600


@dataclass(frozen=True, slots=True)
class CallResult:
    """`found` is what the model sees. It is None after an error; then `words` explain the error."""

    words: str
    found: dict[str, Any] | None = None


def call(pages: AnswerPages, name: str, arguments: dict[str, Any]) -> CallResult:
    """Call one tool. Every error becomes an answer in words; unexpected ones are also logged."""
    try:
        return _answer(pages, name, arguments)
    except msgspec.ValidationError as error:
        return _refuse(f"{name}: {error}; it takes {_fields_of(name) or 'no field'}")
    except HoldfastError as error:
        return _refuse(f"{error}; try: {error.hint}" if error.hint else str(error))
    except Exception as error:  # the session and the other tools go on
        log.add("ERROR", "mcp", f"{name}: {describe(error)}")
        return _refuse(f"{name} failed: {describe(error)}")


def _answer(pages: AnswerPages, name: str, arguments: dict[str, Any]) -> CallResult:
    tool = TOOLS.get(name)
    if tool is None:
        raise HoldfastError(f"there is no tool {name[:80]!r}, only {', '.join(TOOLS)}")
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENTS_CHARS:
        raise HoldfastError(f"{name}: arguments are longer than {MAX_ARGUMENTS_CHARS:,} characters")
    handle = arguments.get("id")
    if isinstance(handle, str) and (page := pages.more(handle)):
        return CallResult("more", page)
    answer = tool.answer(arguments)
    return CallResult(sanitize(answer.words), pages.first(answer))


def _fields_of(name: str) -> str:
    """The fields of a tool with their values: the tool list is too short to explain them."""
    fields = TOOLS[name].input_schema["properties"].items()
    values = {field: ", ".join(filter(None, about.get("enum", []))) for field, about in fields}
    return ", ".join(f"{field} ({of})" if of else field for field, of in values.items())


def _refuse(words: str) -> CallResult:
    return CallResult(inert(sanitize(words), MAX_ERROR_CHARS))


MAX_CALLS = 4
CANCELLED = "notifications/cancelled"
Begin = Callable[[], None]
CallTool = Callable[[AnswerPages, str, dict[str, Any]], CallResult]
CHECK_PARENT_MS = 1000


def serve(parent: int = 0) -> None:
    """Answer until stdin ends, stdout has no reader, or the client (process `parent`) is gone."""
    try:
        lines, answers = _start(parent)
    except OSError as error:  # a full disk, no descriptor left
        sys.exit(f"holdfast mcp could not start: {describe(error)}")
    idle = threading.Event()
    background = BackgroundWork(idle)
    server = McpServer(answers, idle, background.start)
    try:
        for line in lines:
            server.handle(line)
    except OSError as error:  # the client closed our stdout
        log.add("WARN", "mcp", f"ended: {describe(error)}")
    background.stop()
    os._exit(0)  # do not wait for running tools: nobody reads their answers


def _start(parent: int) -> tuple[BinaryIO, int]:
    os.umask(0o077)
    places.protect_home()
    exit_with_client(parent or os.getppid(), 1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # safe: everything we write is complete or absent
    use_secret_patterns()
    return _take_streams()


class McpServer:
    """Answers requests, one per line. Tools run in threads, so a slow call delays neither other
    calls nor the exit. `begin` is called at each message; `idle` is set while no call runs."""

    def __init__(
        self, answers: int, idle: threading.Event, begin: Begin, call_tool: CallTool = call
    ) -> None:
        self._answers, self._idle, self._begin = answers, idle, begin
        self._call_tool, self._pages = call_tool, AnswerPages()
        idle.set()
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
            cancelled = request.params.get("requestId")
            if request.method == CANCELLED and isinstance(cancelled, str | int):
                self._running.discard(cancelled)  # the tool goes on: its time is limited
            return
        try:
            if request.method != "tools/call":
                result = protocol.answer(request, lambda: [tool.listed for tool in TOOLS.values()])
                return self._send(protocol.success(request, result))
            name, arguments = protocol.tool_call(request)
        except ProtocolError as error:
            return self._send(protocol.failure(request.id, error))
        self._running.add(request.id)
        self._idle.clear()
        self._threads.submit(self._call, request, name, arguments)

    def _call(self, request: RpcRequest, name: str, arguments: dict[str, Any]) -> None:
        result = self._call_tool(self._pages, name, arguments)
        if request.id in self._running:
            self._running.discard(request.id)
            self._send(protocol.success(request, _result(result)))
        if not self._running:
            self._idle.set()

    def _send(self, *messages: Message) -> None:
        """Write each message as one complete line."""
        for message in messages:
            data = msgspec.json.encode(message) + b"\n"
            with self._writing:
                while data:
                    data = data[os.write(self._answers, data) :]


def _result(result: CallResult) -> Message:
    more = {"isError": True} if result.found is None else {"structuredContent": result.found}
    return {"content": [{"type": "text", "text": result.words}], **more}


def _take_streams() -> tuple[BinaryIO, int]:
    """Return private copies of stdin and stdout, which child processes do not inherit. Then connect
    stdin to nothing and stdout to stderr, where the prints of libraries go."""
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
    `parent` was read at start-up: if the client died since then, our parent is another process.
    """
    output = os.dup(answers)  # `_take_streams` replaces the descriptor

    def wait() -> None:
        wait_for_client_end(parent, output)
        os._exit(0)

    threading.Thread(target=wait, name="client-exit", daemon=True).start()


def wait_for_client_end(parent: int, output: int) -> None:
    """Return when `parent` exits or nobody can read `output` any more."""
    waiting = select.poll()
    waiting.register(output, 0)  # with no events asked for, poll still reports a closed reader
    while os.getppid() == parent and not waiting.poll(CHECK_PARENT_MS):
        pass


START_DELAY_SECONDS = 3.0  # the start of a session should not compete with it
STOP_SECONDS = 0.5
RETRY_SECONDS = 60.0


class BackgroundWork:
    """Watches sessions, stores what hooks recorded, and makes vectors."""

    def __init__(self, idle: threading.Event) -> None:
        self._idle = idle
        self._stopping = threading.Event()
        self._started = threading.Event()
        self._watcher: Watcher | None = None
        self._filler: Filler | None = None

    def start(self) -> None:
        """Start the work at the first call; later calls do nothing."""
        if not self._started.is_set():
            self._started.set()
            threading.Thread(target=self._run, name="holdfast-background", daemon=True).start()

    def stop(self) -> None:
        """End within half a second, even if work is interrupted: a write is complete or absent."""
        self._stopping.set()
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(STOP_SECONDS)

    def _run(self) -> None:
        if self._stopping.wait(START_DELAY_SECONDS):
            return
        from holdfast.memory import embedders
        from holdfast.memory.sync import Filler
        from holdfast.watcher.loop import Watcher

        embedders.run_apart()
        self._watcher = Watcher(client_session.open_existing, inside="mcp")
        self._filler = Filler(lambda: [client_session.project()], idle=self._idle)
        self._watcher.start()
        threading.Thread(target=_drain, name="draining", daemon=True).start()
        self._filler.start()

    def _end(self) -> None:
        if self._filler is None or self._watcher is None:
            return
        self._filler.stop(STOP_SECONDS)
        self._watcher.stop(STOP_SECONDS)
        from holdfast.memory import engines

        engines.release()


def _drain() -> None:
    """Store what hooks recorded, in the one process of the machine that holds the lock for it."""
    held, last_error = -1, ""
    while True:
        try:
            held = held if held >= 0 else _lock_spools()
            if held >= 0:
                from holdfast.hub.ingest.background import Warm

                return Warm(client_session.store(), "mcp").start()
        except (HoldfastError, OSError) as error:  # try again: the database may come back
            if str(error) != last_error:
                log.add("WARN", "mcp", f"hook records are not stored: {error}")
            last_error = str(error)
        time.sleep(RETRY_SECONDS)


def _lock_spools() -> int:
    """The machine's lock, held until this process ends; -1 if another process has it."""
    fd = lock.open_file(f"{places.home()}/draining")
    if lock.acquire(fd):
        return fd
    os.close(fd)
    return -1

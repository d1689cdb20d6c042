"""The server's life: started by the client, ended with it; stdout is the protocol's alone."""

from __future__ import annotations

import gc
import logging
import os
import signal

from holdfast.mcp import lifeline
from holdfast.wire import log


def serve(parent: int = 0) -> None:
    """Answer on stdin and stdout until the input ends, nobody reads us, or the client (`parent`)
    is gone."""
    os.umask(0o077)
    lifeline.hold(parent or os.getppid(), 1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # all we write is whole or not there
    # The SDK builds a thousand models: with the collector at work it takes 1.15 times as long.
    gc.disable()
    import anyio

    from holdfast.mcp.active_calls import Calls
    from holdfast.mcp.background import Beside
    from holdfast.mcp.server import create
    from holdfast.window import history

    gc.freeze()
    gc.enable()
    history.follow()
    logging.basicConfig(handlers=[_OurLog()], level=logging.WARNING, force=True)
    calls = Calls()
    beside = Beside(calls)
    try:
        anyio.run(_answer, create(calls, begun=beside.start))
    except BaseExceptionGroup as slip:  # the client closed what we were writing to
        log.add("WARN", "mcp", f"ended: {slip.exceptions[0]!r}")
    beside.stop()
    os._exit(0)  # a tool that is still at work ends here: nobody waits for its answer


async def _answer(server: object) -> None:
    from typing import Any, cast

    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    from holdfast.mcp.stdin_filter import Lines, taken

    assert isinstance(server, Server)
    lines = Lines(taken())
    async with stdio_server(stdin=cast(Any, lines)) as (reading, writing):
        lines.answer = lambda refusal: writing.send(SessionMessage(refusal))
        await server.run(reading, writing, server.create_initialization_options())


class _OurLog(logging.Handler):
    """What libraries have to say, in the log people look into."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "ERROR" if record.levelno >= logging.ERROR else "WARN"
        log.add(level, "mcp", f"{record.name}: {record.getMessage()}")

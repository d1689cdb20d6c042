"""The lines the client sends: what is a message goes on to the SDK, what is none is answered."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TextIO

import anyio
import mcp_types as types

from holdfast.mcp.bad_line import refusals

Answer = Callable[[types.JSONRPCError], Awaitable[None]]


class Lines:
    """Iterates over stdin. `answer` is how a refusal is sent; the SDK would drop the line without
    a word, and its sender would wait for ever."""

    def __init__(self, file: TextIO) -> None:
        self._file = anyio.wrap_file(file)
        self.answer: Answer = _unheard

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            refused = refusals(line)
            for one in refused:
                await self.answer(one)
            if not refused and line.strip():
                yield line


def taken() -> TextIO:
    """stdin for us alone: what is started by a tool must not read the protocol."""
    ours = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    # A line ends with "\n" alone: a "\r" between two words is a blank of JSON's.
    return open(ours, encoding="utf-8", errors="replace", newline="\n", closefd=False)


async def _unheard(_refusal: types.JSONRPCError) -> None:
    return

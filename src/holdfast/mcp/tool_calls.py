"""One call of a tool: check the arguments, call it, turn every error into an answer in words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.mcp.answers import AnswerPages, sanitize
from holdfast.mcp.tool_table import TOOLS
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

MAX_ARGUMENTS_CHARS = 256 << 10
MAX_ERROR_CHARS = 600
UNKNOWN_FIELD = "unknown field"  # how msgspec words it


class InvalidCall(HoldfastError):
    """The request does not fit any of our tools."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """`found` is what the model sees; None for an error, which the words explain."""

    words: str
    found: dict[str, Any] | None = None


def call(pages: AnswerPages, name: str, arguments: dict[str, Any]) -> CallResult:
    """Call one tool. Every error becomes an answer in words; unexpected ones are also logged."""
    try:
        return _answer(pages, name, arguments)
    except msgspec.ValidationError as error:
        return _refuse(f"{name}: {error}{_fields(name, str(error))}")
    except HoldfastError as error:
        return _refuse(f"{error}; try: {error.hint}" if error.hint else str(error))
    except Exception as error:  # the session and the other tools go on
        log.add("ERROR", "mcp", f"{name}: {type(error).__name__}: {error}")
        return _refuse(f"{name} failed: {type(error).__name__}: {error}")


def _answer(pages: AnswerPages, name: str, arguments: dict[str, Any]) -> CallResult:
    tool = TOOLS.get(name)
    if tool is None:
        raise InvalidCall(f"there is no tool {name[:80]!r}, only {', '.join(TOOLS)}")
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENTS_CHARS:
        raise InvalidCall(f"{name} takes at most {MAX_ARGUMENTS_CHARS:,} characters")
    handle = arguments.get("id")
    if isinstance(handle, str) and pages.knows(handle):
        return CallResult("more", pages.more(handle))
    answer = tool.answer(arguments)
    return CallResult(sanitize(answer.words), pages.first(answer))


def _fields(name: str, error: str) -> str:
    """After an unknown field, the fields that exist: the tool list has no room to explain them."""
    return (
        f"; it takes {', '.join(TOOLS[name].asks.__struct_fields__) or 'no field'}"
        if UNKNOWN_FIELD in error
        else ""
    )


def _refuse(words: str) -> CallResult:
    return CallResult(inert(sanitize(words), MAX_ERROR_CHARS))


class ActiveCalls:
    """Counts running calls. `idle` is set while there are none; background work waits for it."""

    def __init__(self) -> None:
        self.idle = threading.Event()
        self.idle.set()
        self._lock = threading.Lock()
        self._count = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        with self._lock:
            self._count += by
            if self._count:
                self.idle.clear()
            else:
                self.idle.set()

"""One call of a tool: check what comes in, call, turn every error into words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.mcp.continuations import Pages
from holdfast.mcp.reply import harmless
from holdfast.mcp.tool_table import TOOLS
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.wire.inert import inert

MOST_ARGUMENTS = 256 << 10
MOST_WORDS = 600
UNKNOWN = "unknown field"  # msgspec's words


class NotAsked(HoldfastError):
    """What came in is no question to one of our tools."""


@dataclass(frozen=True, slots=True)
class Said:
    """`found` is what the model sees; None where the words say why there is nothing."""

    words: str
    found: dict[str, Any] | None = None


def call(pages: Pages, name: str, arguments: dict[str, Any]) -> Said:
    """One tool; whatever goes wrong is an answer in words, and the log's business too."""
    try:
        return _answered(pages, name, arguments)
    except msgspec.ValidationError as slip:
        return _refused(f"{name}: {slip}{_fields(name, str(slip))}")
    except HoldfastError as slip:
        return _refused(f"{slip}; try: {slip.hint}" if slip.hint else str(slip))
    except Exception as slip:  # the client's session goes on, and so do our other tools
        log.add("ERROR", "mcp", f"{name}: {type(slip).__name__}: {slip}")
        return _refused(f"{name} failed: {type(slip).__name__}: {slip}")


def _answered(pages: Pages, name: str, arguments: dict[str, Any]) -> Said:
    tool = TOOLS.get(name)
    if tool is None:
        raise NotAsked(f"there is no tool {name[:80]!r}, only {', '.join(TOOLS)}")
    if len(json.dumps(arguments, ensure_ascii=False)) > MOST_ARGUMENTS:
        raise NotAsked(f"{name} takes at most {MOST_ARGUMENTS:,} characters")
    handle = arguments.get("id")
    if isinstance(handle, str) and pages.knows(handle):
        return Said("more", pages.more(handle))
    answer = tool.answer(arguments)
    return Said(harmless(answer.words), pages.first(answer))


def _fields(name: str, slip: str) -> str:
    """Whoever guessed a name is told those there are; the list of tools has no room for more."""
    return (
        f"; it takes {', '.join(TOOLS[name].asks.__struct_fields__) or 'no field'}"
        if UNKNOWN in slip
        else ""
    )


def _refused(words: str) -> Said:
    return Said(inert(harmless(words), MOST_WORDS))

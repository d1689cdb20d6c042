"""Tools: of which type, what a call was about, and which files it named."""

from __future__ import annotations

import json
from typing import Any, Literal

from holdfast.hub.ingest.readers.clean_text import clean
from holdfast.hub.ingest.records import INPUT_CHARS, TEXT_CHARS

ToolType = Literal["builtin", "agent", "skill", "command", "mcp"]
AGENTS = frozenset(("Agent", "Task"))
_FILE_KEYS = ("file_path", "notebook_path", "path")
_TELLING = {"Bash": "command", "Skill": "skill", "SlashCommand": "command", "WebSearch": "query"}
VALUE_CHARS = 400


def type_of(tool: str) -> ToolType:
    if tool.startswith("mcp__"):
        return "mcp"
    if tool in AGENTS:
        return "agent"
    return {"Skill": "skill", "SlashCommand": "command"}.get(tool, "builtin")  # type: ignore[return-value]


def input_of(tool: str, given: dict[str, Any]) -> str:
    """What it was called with, in short: the one value that tells, else all of them."""
    told = given.get(_TELLING.get(tool, ""))
    if isinstance(told, str):
        return clean(told, INPUT_CHARS)
    short = {key[:80]: _short(value) for key, value in list(given.items())[:20]}
    try:
        return clean(json.dumps(short, ensure_ascii=False), INPUT_CHARS)
    except (ValueError, RecursionError):
        return ""


def files_of(given: dict[str, Any]) -> list[str]:
    found = [given.get(key) for key in _FILE_KEYS]
    return [clean(path, TEXT_CHARS) for path in found if isinstance(path, str) and path]


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:VALUE_CHARS]
    if isinstance(value, int | float | bool) or value is None:
        return value
    return f"({type(value).__name__} of {len(value)})" if isinstance(value, list | dict) else ""

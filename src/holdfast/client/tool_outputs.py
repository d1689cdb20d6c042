"""What a tool gave back, as the client hands it to a hook: its one long text, and how to put
another in its place.

`updatedToolOutput` must have the shape of the tool's own answer, or the client ignores it (seen on
2.1.325: a string in the place of Bash's object changed nothing; for an MCP tool both a string and a
list of blocks are taken).
"""

from __future__ import annotations

import json
from typing import Any

OURS = ("mcp__holdfast__", "mcp__plugin_holdfast_")
# A result that was asked for word for word is not among them: a file to edit, an agent's report.
MATCHER = "Bash|Grep|WebFetch|WebSearch|mcp__.*"
_FIELDS = {"Bash": "stdout", "Grep": "content", "WebFetch": "result"}


def text_of(tool: str, response: Any) -> str:
    """The text that may be shortened; empty where there is none, or where it must stay."""
    if tool.startswith(OURS):
        return ""
    if tool.startswith("mcp__"):
        return _of_server(response)
    field = _FIELDS.get(tool, "")
    if not isinstance(response, dict) or not isinstance(response.get(field), str):
        return ""
    if response.get("isImage") or response.get("persistedOutputPath"):
        return ""  # a picture; or the client has put it into a file itself
    text: str = response[field]
    return text


def with_text(tool: str, response: Any, text: str) -> Any:
    """The same answer with another text in it."""
    if isinstance(response, str):
        return text
    if isinstance(response, list):
        return [{"type": "text", "text": text}]
    return {**response, _FIELDS[tool]: text}


def replaced(response: Any) -> str:
    """What the hook prints."""
    inner = {"hookEventName": "PostToolUse", "updatedToolOutput": response}
    return json.dumps({"hookSpecificOutput": inner}, ensure_ascii=False)


def _of_server(response: Any) -> str:
    if isinstance(response, str):
        return response
    if not isinstance(response, list) or not response:
        return ""
    texts = [one.get("text") for one in response if _is_text(one)]
    whole = len(texts) == len(response)  # a picture among them must reach the model
    return "\n".join(str(text) for text in texts) if whole else ""


def _is_text(block: object) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )

"""What a hook may print, in Claude Code's format; nothing else is ever written to stdout.

`additionalContext` reaches the model and `systemMessage` the user. A missing event name or an
unknown decision makes Claude Code drop the whole output. `updatedToolOutput` must have the shape of
the tool's own output, or it is ignored (an MCP tool's may be a string or blocks).
"""

import json
from typing import Any

from holdfast.wire import scan

TAKES_CONTEXT = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"))
TAKES_CONTEXT |= {"SubagentStart", "SubagentStop"}
OWN_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_")
# Results that the model needs word for word are left out: a file to edit, an agent's report.
MATCHER = "Bash|Grep|WebFetch|WebSearch|mcp__.*"
_FIELDS = {"Bash": "stdout", "Grep": "content", "WebFetch": "result"}


def block_stop(reason: str, *, to_user: str = "") -> str:
    """Continue the turn, and tell the model why."""
    output = {"decision": "block", "reason": reason}
    output |= {"systemMessage": to_user} if to_user else {}
    return json.dumps(output, ensure_ascii=False)


def add_context(event: str, *, to_model: str = "", to_user: str = "") -> str:
    """The JSON for one event; empty if there is nothing to say."""
    body: dict[str, object] = {}
    if to_user:
        body["systemMessage"] = to_user
    if to_model and event in TAKES_CONTEXT:
        body["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": to_model}
    return json.dumps(body, ensure_ascii=False) if body else ""


def read_text(tool: str, response: Any) -> str:
    """The text that may be shortened; empty if there is none or if it must stay."""
    if tool.startswith(OWN_TOOLS):
        return ""
    if tool.startswith("mcp__"):
        return _of_server(response)
    field = _FIELDS.get(tool, "")
    if not isinstance(response, dict) or not isinstance(response.get(field), str):
        return ""
    if response.get("isImage") or response.get("persistedOutputPath"):
        return ""  # an image, or Claude Code has put the text into a file itself
    text: str = response[field]
    return text


def put_text(tool: str, response: Any, text: str) -> Any:
    """The same output with another text in it."""
    if isinstance(response, str):
        return text
    if isinstance(response, list):
        return [{"type": "text", "text": text}]
    return {**response, _FIELDS[tool]: text}


def replace_output(response: Any) -> str:
    """What the hook prints to replace the tool's output."""
    inner = {"hookEventName": "PostToolUse", "updatedToolOutput": response}
    return json.dumps({"hookSpecificOutput": inner}, ensure_ascii=False)


def _of_server(response: Any) -> str:
    if isinstance(response, str):
        return response
    if not isinstance(response, list) or not response:
        return ""
    texts = [scan.text_of(block, "text") for block in response]
    is_text = [scan.text_of(block, "type") == "text" for block in response]
    return "\n".join(texts) if all(is_text) else ""  # an image among them must reach the model

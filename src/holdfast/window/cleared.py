"""How often a window was compacted, and the tool results that a microcompaction dropped from it;
the transcript still has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.redact import redact
from holdfast.transcript import lookup
from holdfast.transcript.blocks import ToolUse
from holdfast.window.state import State

CALL_CHARS = 200
LONGEST_ARGUMENT = 32_000
_MAIN_ARGUMENTS = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
)


def name_call(use: ToolUse) -> str:
    """Return a tool call on one line: the tool, and the argument that tells most about the call."""
    values = (use.input.get(name) for name in _MAIN_ARGUMENTS)
    first = next((value for value in values if isinstance(value, str) and value), "")
    return f"{use.name} {redact(first[:LONGEST_ARGUMENT])[:CALL_CHARS]}".strip()


def read_compactions(state: State) -> tuple[int, dict[str, Any]]:
    """Count the compactions, which hooks did not see in a session from before the installation.
    Also return how often results were cleared, how many tokens, and which results: `holdfast
    search --expand ID` shows each."""
    transcript = Path(state.transcript)
    try:
        freed = lookup.compactions(transcript, sidechain=bool(state.agent_id))
        ids = [each for one in freed.thinned for each in one.cleared_ids]
        found = list(lookup.find_calls(transcript, ids)) if ids else []
    except (OSError, ValueError):
        freed, ids, found = lookup.Compactions(), [], []
    return max(freed.count, state.compactions), {
        "count": len(freed.thinned),
        "saved_tokens": sum(one.saved_tokens for one in freed.thinned),
        "cleared_tool_use_ids": ids,
        "cleared": [
            {"id": one.use.id, "call": name_call(one.use), "chars": one.result.text_chars}
            for one in found
        ],
    }

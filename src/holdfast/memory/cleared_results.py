"""What microcompactions cleared from a window since its last compaction: the client drops old tool
results and goes on, and the transcript still has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.memory.sources import calls
from holdfast.transcript import lookup
from holdfast.window.state import State


def cleared(state: State) -> dict[str, Any]:
    """How often, how many tokens, and which results: `holdfast expand ID` gives each back."""
    transcript = Path(state.transcript)
    try:
        told = lookup.compactions(transcript, sidechain=bool(state.agent_id))
        ids = [each for one in told.thinned for each in one.cleared_ids]
        found = list(lookup.find_calls(transcript, ids)) if ids else []
    except (OSError, ValueError):
        told, ids, found = lookup.Compactions(), [], []
    return {
        "count": len(told.thinned),
        "saved_tokens": sum(one.saved_tokens for one in told.thinned),
        "cleared_tool_use_ids": ids,
        "cleared": [
            {"id": one.use.id, "call": calls.call(one.use), "chars": one.result.text_chars}
            for one in found
        ],
    }

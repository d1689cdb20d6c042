"""Where no usage can be read: a guess that says it is one.

In this order: what the status line was told, the transcript's bytes, weighted counts of calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from holdfast.window.reading import Reading
from holdfast.wire.spool import Line

KB = 1024
# Bytes of transcript and the share of the edge they stand for: yellow, orange, red.
BYTE_ZONES = ((0, 0.0), (500 * KB, 0.50), (750 * KB, 0.75), (1024 * KB, 0.90), (1200 * KB, 1.0))
WEIGHTS = {"message": 0.01, "read": 0.02, "edit": 0.015, "tool": 0.005, "subagent": 0.05}
EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
AGENTS = frozenset(("Agent", "Task"))


def from_status_line(noted: dict[str, Any], now_ms: int) -> Reading | None:
    """The status line's own count, if it ever had one."""
    used = noted.get("used_tokens")
    if not isinstance(used, int) or used <= 0:
        return None
    return Reading(used, now_ms, "status-line", estimated=True)


def from_bytes(transcript_bytes: int, edge_tokens: int, now_ms: int) -> Reading | None:
    """Between two known sizes the share grows evenly; past the last the window counts as full."""
    if transcript_bytes <= 0:
        return None
    share = BYTE_ZONES[-1][1]
    for (low, low_share), (high, high_share) in pairwise(BYTE_ZONES):
        if transcript_bytes < high:
            part = (transcript_bytes - low) / (high - low)
            share = low_share + part * (high_share - low_share)
            break
    return Reading(int(share * edge_tokens), now_ms, "bytes", estimated=True)


def from_weights(lines: Iterable[Line], edge_tokens: int, now_ms: int) -> Reading | None:
    """Counts of what the hooks saw, each with its weight, never above the whole."""
    counts = Counter(_weighed(line) for line in lines)
    share = sum(WEIGHTS[kind] * count for kind, count in counts.items() if kind)
    if share <= 0:
        return None
    return Reading(int(min(share, 1.0) * edge_tokens), now_ms, "weights", estimated=True)


def _weighed(line: Line) -> str:
    if line.event == "UserPromptSubmit":
        return "message"
    if not line.event.startswith("PostToolUse"):
        return ""
    if line.tool == "Read":
        return "read"
    if line.tool in EDITS:
        return "edit"
    return "subagent" if line.tool in AGENTS else "tool"

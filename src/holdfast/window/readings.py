"""A window's readings as its hooks kept them: one per change, oldest first."""

from __future__ import annotations

from holdfast.wire import spool


def of(folder: str) -> list[int]:
    """Tokens in the window after each event that changed them; none while it compacted."""
    found: list[int] = []
    for line in spool.lines(folder):
        known = line.tells_fill() and line.event.startswith(("PostToolUse", "UserPrompt"))
        if known and (not found or found[-1] != line.used):
            found.append(line.used)
    return found

"""How much room a window has, for whoever gives out work: whether a task fits, and whether the
window is so full that it should be saved first."""

from __future__ import annotations

HIGH, OK = "context_high", "ok"
TRIGGER, NOTHING = "trigger_checkpoint", "none"


def fits(room_tokens: int | None, tokens: int) -> bool | None:
    """Whether work of so many tokens ends before the edge; None where the room is unknown."""
    return None if room_tokens is None else tokens <= room_tokens


def status(used_ratio: float, watch_at: float) -> str:
    return HIGH if used_ratio >= watch_at else OK


def action(used_tokens: int, edge_tokens: int, checkpoint_tokens: int, watch_at: float) -> str:
    """A checkpoint, where none was kept since the window became that full; `checkpoint_tokens`:
    how full it was at the last one."""
    mark = watch_at * edge_tokens
    saved = min(checkpoint_tokens, used_tokens)
    return TRIGGER if used_tokens >= mark > saved else NOTHING

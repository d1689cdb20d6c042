"""Which windows somebody may still work in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.wire import places

if TYPE_CHECKING:
    from holdfast.window.state import State

LIVE_MS = 30 * 60_000  # unheard of for longer, it was killed or left open


def is_over(folder: str, state: State) -> bool:
    """Its session ended, or its agent did, and its hooks said so."""
    return bool(state.ended_ms) or places.is_closed(folder)

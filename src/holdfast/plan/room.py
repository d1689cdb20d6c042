"""How much work fits now, and how much into a fresh window.

Two settings bound it: one batch takes at most `batch_share` of its window, and at most
`batch_specs` tasks of the plan (specs).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.client import compaction_limit as client_edge
from holdfast.client import models
from holdfast.window.history import OVERHEAD_UNKNOWN

FRESH_TOKENS = OVERHEAD_UNKNOWN  # system prompt and tools of a session that just began


@dataclass(frozen=True, slots=True)
class Room:
    """`now_tokens` is for the first batch, in the session at work; `fresh_tokens` for others."""

    now_tokens: int
    fresh_tokens: int
    window_tokens: int
    specs: int
    basis: str
    here: bool = False  # the first batch goes into a session that is at work


def beside(
    window_tokens: int, edge_tokens: int, used_tokens: int, share: float, specs: int, basis: str
) -> Room:
    """The room a session leaves: up to its edge, and never more than the share of its window."""
    limit = int(window_tokens * share)
    now = max(0, min(limit, edge_tokens - used_tokens))
    return Room(now, _fresh(edge_tokens, limit), window_tokens, specs, basis, here=True)


def fresh(
    window_tokens: int, share: float, specs: int, basis: str, edge_tokens: int | None = None
) -> Room:
    """A window nothing is in yet."""
    edge = _edge_of(window_tokens) if edge_tokens is None else edge_tokens
    tokens = _fresh(edge, int(window_tokens * share))
    return Room(tokens, tokens, window_tokens, specs, basis)


def _edge_of(window_tokens: int) -> int:
    return window_tokens - client_edge.RESERVE - client_edge.MARGIN


def _fresh(edge_tokens: int, limit: int) -> int:
    return max(1, min(limit, edge_tokens - FRESH_TOKENS))


def stated(tokens: int, specs: int) -> Room:
    """As somebody said it, for every batch alike."""
    return Room(tokens, tokens, tokens, specs, "as told")


def in_fresh_windows(found: Room) -> Room:
    """The same where no batch goes into a session that is at work."""
    if not found.here:
        return found
    size = f"{found.fresh_tokens:,} tokens of windows of {found.window_tokens:,}"
    return replace(
        found,
        now_tokens=found.fresh_tokens,
        here=False,
        basis=f"like the last session here: {size}",
    )


def share_of(window_tokens: int, share: float) -> str:
    return f"at most {share:.0%} of a fresh window of {window_tokens:,} tokens"


UNKNOWN_WINDOW = models.SMALL  # nothing is known: what fits there fits everywhere
UNKNOWN_EDGE = _edge_of(UNKNOWN_WINDOW)

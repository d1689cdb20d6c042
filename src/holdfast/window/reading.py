"""A reading: how full a window was at one instant, and how we know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """`basis` says how we know: usage, boundary, compacting, earlier, status-line, bytes,
    weights, none."""

    used_tokens: int
    at_ms: int
    basis: str = "usage"
    estimated: bool = False

    def ratio(self, edge_tokens: int) -> float:
        return self.used_tokens / edge_tokens if edge_tokens > 0 else 0.0

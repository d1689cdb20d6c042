"""A task as packing sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """`needs` are positions of other loads; `spec` is what it counts as in a session."""

    size: int
    needs: tuple[int, ...]
    spec: str

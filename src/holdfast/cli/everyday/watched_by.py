"""Who watches this machine, in words."""

from __future__ import annotations

from collections.abc import Mapping

PLACES = {"alone": "by itself", "mcp": "inside the MCP server", "serve": "inside `holdfast serve`"}


def who(holder: Mapping[str, object]) -> str:
    """`holder` is what the lock says; a newer Holdfast may name a place we do not know."""
    inside = str(holder.get("inside", "unknown"))
    return f"process {holder.get('pid', 'unknown')}, {PLACES.get(inside, f'inside {inside}')}"

"""Zones and alerts as a person sees them: one look each, the same in every command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.cli.terminal import paint
from holdfast.window.velocity import in_words

ZONE_PAINT = {"green": "green", "yellow": "yellow", "orange": "orange", "red": "red"}
ALERT_PAINT = {"warning": "yellow", "advisory": "orange", "urgent": "red", "critical": "red"}


def bar(used_ratio: float, zone: str, width: int = 40) -> str:
    """A gauge whose end is the compaction limit."""
    filled = min(width, max(0, round(used_ratio * width)))
    return paint("█" * filled, ZONE_PAINT[zone]) + paint("░" * (width - filled), "dim")


def sparkline(readings: list[int], edge_tokens: int) -> str:
    """The last readings, each against the compaction limit."""
    steps = "▁▂▃▄▅▆▇█"
    return "".join(steps[min(7, int(used / edge_tokens * 8))] for used in readings)


def left(found: Mapping[str, Any]) -> str:
    """A forecast in words; unknown is a fine answer."""
    steps = in_words(found["ops_left_low"], found["ops_left_high"], found["pace_ms"])
    return steps or "unknown"


def duration(minutes: float) -> str:
    if minutes < 1:
        return "under a minute"
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h"

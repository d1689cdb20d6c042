"""Which decisions were taken in a window that was nearly full, for review. Values in, a list out.

A window is under pressure from an alert in the orange or red zone until an alert in a lower one, or
until the window is freed by a compaction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

PRESSURE, FREED = "CONTEXT_PRESSURE", "CONTEXT_FREED"
ZONES = frozenset(("orange", "red"))


def under_pressure(
    decisions: Iterable[tuple[int, Mapping[str, Any]]], events: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Of one window: (when, what is known of a decision) and its audit events. Oldest first."""
    timed = (event for event in events if type(event.get("at_ms")) is int)
    told = sorted(timed, key=lambda event: event["at_ms"])
    times = [event["at_ms"] for event in told]
    found = []
    for at_ms, decision in sorted(decisions, key=lambda one: (one[0], one[1].get("turn") or 0)):
        place = bisect_right(times, at_ms)
        last = told[place - 1] if place else {}
        if last.get("event") == PRESSURE and last.get("zone") in ZONES:
            facts = {name: last.get(name) for name in ("zone", "level", "used_ratio")}
            found.append({"at_ms": at_ms, **decision, **facts})
    return found

"""The edge: the token count at which the client will really compact.

`window - min(max output, 20,000) - 13,000`, moved by the user's switches, by what the client
of the line did (up to 2.1.24 it kept 32,000 free), and by compactions seen on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from holdfast.client import models
from holdfast.client.switches import Switches

RESERVE = 20_000
MARGIN = 13_000
REFUSES_BEFORE = 23_000  # with compaction off the client sends nothing from window - 23,000
LEAST_WINDOW = 100_000
OLD_RESERVE = 32_000
OLD_RESERVE_BEFORE = (2, 1, 25)  # compactions at 155,000 up to 2.1.17, at 167,000 from 2.1.25
ALL_EARLY_BEFORE = (2, 1, 197)  # the oldest client seen to let some models run to the limit
LEAST_SEEN, MOST_SEEN = 10_000, 20_000_000  # no client compacts outside of this
OVERSHOOT = 1.10  # a compaction is noticed one step late: so far above the edge is still the edge


@dataclass(frozen=True, slots=True)
class Edge:
    """`kind`: early (compacts there), window (only at the API's word), refusal (compaction off)."""

    window_tokens: int
    edge_tokens: int
    kind: str
    source: str


def find(
    model_id: str,
    client_version: str = "",
    switches: Switches | None = None,
    *,
    used_tokens: int = 0,
    stated_window: int | None = None,
    seen_pre_tokens: Iterable[int] = (),
) -> Edge:
    """Where this session's window ends. `stated_window` is the size the status line told;
    `seen_pre_tokens` are automatic compactions of the same model, client and switches."""
    switches = switches or Switches()
    version = parse_version(client_version)
    model = _model(model_id, switches, stated_window, used_tokens)
    edge = _by_table(model, version, switches)
    edge = _calibrated(edge, list(seen_pre_tokens))
    if used_tokens > edge.window_tokens:  # beyond any window we know of
        return Edge(used_tokens, used_tokens, "window", "a reading above the window")
    return edge


def parse_version(text: str) -> tuple[int, ...]:
    """(2, 1, 325); an unknown version counts as the newest."""
    parts = text.split("-")[0].split(".")
    good = all(part.isdecimal() and len(part) < 9 for part in parts)
    return tuple(int(part) for part in parts) if good else (999,)


def _model(
    model_id: str, switches: Switches, stated_window: int | None, used_tokens: int
) -> models.Model:
    """The row of the table, corrected by what was asked for, said, and seen."""
    asked = switches.model
    wide = asked.endswith("[1m]") and not switches.large_windows_off
    model = models.find(model_id + "[1m]" if wide and not model_id.endswith("[1m]") else model_id)
    if model is models.UNKNOWN and switches.max_context_tokens:
        model = replace(model, window_tokens=switches.max_context_tokens)
    if switches.large_windows_off and model.window_tokens > models.SMALL:
        model = replace(model, window_tokens=models.SMALL)
    if stated_window and stated_window > 0:
        wider = stated_window > model.window_tokens and model.prefix
        model = models.find(model.prefix + "[1m]") if wider else model
        model = replace(model, window_tokens=stated_window)
    if used_tokens > model.window_tokens and used_tokens <= models.LARGE:
        wider_row = models.find(model.prefix + "[1m]") if model.prefix else model
        model = replace(wider_row, window_tokens=models.LARGE)
    return model


def _by_table(model: models.Model, version: tuple[int, ...], switches: Switches) -> Edge:
    window = model.window_tokens
    if switches.compaction_off:
        return Edge(window, max(1, window - REFUSES_BEFORE), "refusal", "compaction is off")
    era = f", client before 2.1.{OLD_RESERVE_BEFORE[2]}" if version < OLD_RESERVE_BEFORE else ""
    effective, source = window, f"model table ({model.prefix or 'unknown model'}{era})"
    if switches.auto_compact_window:
        effective = min(max(switches.auto_compact_window, LEAST_WINDOW), window)
        source = "configured auto-compact window"
    elif not model.compacts_early and version >= ALL_EARLY_BEFORE:
        return Edge(window, window, "window", source + ", no early compaction")
    reserve = _reserve(version, switches)
    edge = effective - reserve - MARGIN
    if switches.percent_override:
        lowered = int(switches.percent_override / 100 * (effective - reserve))
        if lowered < edge:
            edge, source = lowered, "percent override"
    return Edge(window, max(1, edge), "early", source)


def _reserve(version: tuple[int, ...], switches: Switches) -> int:
    cap = OLD_RESERVE if version < OLD_RESERVE_BEFORE else RESERVE
    return min(switches.max_output_tokens or cap, cap)


def _agreed(seen: list[int], edge_tokens: int) -> bool:
    """A count far from the table wants a second one beside it: one odd line moves no edge."""
    lowest = min(seen)
    if edge_tokens / 2 <= lowest <= edge_tokens * 2:
        return True
    return sum(n <= lowest * OVERSHOOT for n in seen) > 1


def _calibrated(edge: Edge, seen: list[int]) -> Edge:
    """Compactions that really happened win over the table, unless they merely overshot it."""
    sane = [n for n in seen if LEAST_SEEN <= n <= MOST_SEEN]
    if not sane or not _agreed(sane, edge.edge_tokens):
        return edge
    lowest = min(sane)
    if edge.edge_tokens <= lowest <= edge.edge_tokens * OVERSHOOT:
        return edge
    window = max(edge.window_tokens, lowest)
    return Edge(window, lowest, edge.kind, f"compactions seen at {lowest:,} tokens")

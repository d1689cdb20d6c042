"""The edge: the token count at which the client will really compact.

`window - min(max output, 20,000) - 13,000`, moved by the user's switches, by what the client
of the line did (up to 2.1.24 it kept 32,000 free), and by compactions seen on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from holdfast.client import models
from holdfast.client.limit_settings import LEAST_WINDOW, Switches

RESERVE = 20_000
MARGIN = 13_000
REFUSES_BEFORE = 23_000  # with compaction off the client sends nothing from window - 23,000
OLD_RESERVE = 32_000
OLD_RESERVE_BEFORE = (2, 1, 25)  # compactions at 155,000 up to 2.1.17, at 167,000 from 2.1.25
ALL_EARLY_BEFORE = (2, 1, 197)  # the oldest client seen to let some models run to the limit
LEAST_SEEN, MOST_SEEN = 10_000, 20_000_000  # no client compacts outside of this
OVERSHOOT = 1.10  # a compaction is noticed one step late: so far above the edge is still the edge
UNDERSHOOT = 0.98  # the client estimates what it adds; so little below the table is no other limit
FEWEST_AGREEING = 2  # one odd line moves no limit


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
    passed_tokens: int = 0,
) -> Edge:
    """Where this session's window ends. `stated_window` is the size the status line told;
    `seen_pre_tokens` are automatic compactions of the same model, client and switches;
    `passed_tokens` were in this window without a compaction."""
    switches = switches or Switches()
    version = parse_version(client_version)
    model = _model(model_id, switches, stated_window, used_tokens)
    edge = _by_table(model, model_id, version, switches)
    learned = learned_limit(edge.edge_tokens, seen_pre_tokens)
    if learned and passed_tokens <= learned.tokens * OVERSHOOT:
        window = max(edge.window_tokens, learned.tokens)
        source = learned.in_words(model_id, client_version)
        edge = Edge(window, learned.tokens, edge.kind, source)
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


def _by_table(
    model: models.Model, model_id: str, version: tuple[int, ...], switches: Switches
) -> Edge:
    window = model.window_tokens
    if switches.compaction_off:
        off = f"compaction is off ({switches.off_source or 'autoCompactEnabled'})"
        return Edge(window, max(1, window - REFUSES_BEFORE), "refusal", off)
    era = f", client before 2.1.{OLD_RESERVE_BEFORE[2]}" if version < OLD_RESERVE_BEFORE else ""
    effective, source = window, f"model table ({model.prefix or 'unknown model'}{era})"
    configured, set_by = _configured(model_id, switches, window)
    if configured:
        effective, source = configured, f"setting {set_by}"
    elif not model.compacts_early and version >= ALL_EARLY_BEFORE:
        return Edge(window, window, "window", source + ", no early compaction")
    reserve = _reserve(version, switches)
    edge = effective - reserve - MARGIN
    if switches.percent_override:
        lowered = int(switches.percent_override / 100 * (effective - reserve))
        if lowered < edge:
            edge, source = lowered, "setting CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
    return Edge(window, max(1, edge), "early", source)


def _configured(model_id: str, switches: Switches, window: int) -> tuple[int, str]:
    """The window that was set, 0 for none; an agent's own only lowers what it inherits."""
    wanted, set_by = switches.window_for(model_id)
    found = min(max(wanted, LEAST_WINDOW), window) if wanted else 0
    if switches.agent_window and switches.agent_window < (found or window):
        return switches.agent_window, "autoCompactWindow of the agent's definition"
    return found, set_by


def _reserve(version: tuple[int, ...], switches: Switches) -> int:
    cap = OLD_RESERVE if version < OLD_RESERVE_BEFORE else RESERVE
    return min(switches.max_output_tokens or cap, cap)


@dataclass(frozen=True, slots=True)
class Learned:
    """A limit that `count` compactions agree on, against what the table says."""

    tokens: int
    count: int

    def in_words(self, model_id: str, client_version: str) -> str:
        of = f"{model_id or 'an unknown model'} on client {client_version or 'unknown'}"
        return f"learned from {self.count} compactions of {of}"


def learned_limit(table_tokens: int, seen_pre_tokens: Iterable[int]) -> Learned | None:
    """What compactions that really happened say instead of the table: at least two that agree,
    and more than those that confirm the table. A compaction in an idle hour says nothing."""
    sane = sorted(n for n in seen_pre_tokens if LEAST_SEEN <= n <= MOST_SEEN)
    confirming = [n for n in sane if _is_same(n, table_tokens)]
    others = [n for n in sane if not _is_same(n, table_tokens)]
    groups = [[n for n in others if low <= n <= low * OVERSHOOT] for low in others]
    largest = max(groups, key=len, default=[])  # of equal ones the lowest: it comes first
    if len(largest) < FEWEST_AGREEING or len(largest) <= len(confirming):
        return None
    return Learned(largest[0], len(largest))


def _is_same(pre_tokens: int, limit_tokens: int) -> bool:
    return limit_tokens * UNDERSHOOT <= pre_tokens <= limit_tokens * OVERSHOOT

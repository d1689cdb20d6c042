"""Alert when a window fills again at once: after three compactions in a row Claude Code ends the
turn.

The second of these compactions, within three steps of the first, raises one alert that says what
fills the window. Model and user read it in the new window, before Claude Code gives up.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.record.compactions import growth_since_compaction
from holdfast.record.model import Record
from holdfast.window.state import State
from holdfast.wire.mark import CHARS_PER_TOKEN

ENDS = "compacted twice within 3 steps; at the third, Claude Code ends the turn"


class WindowPart(NamedTuple):
    """A part of what fills the window, and what can be done about it."""

    tokens: int
    what: str
    advice: str


def note(state: State, record: Record, trigger: str) -> None:
    """Raise the alarm before a compaction that follows another at once. There is none for a second
    such compaction in a row, or for one that the user asked for."""
    number = record.compactions + 1
    if trigger == "manual":
        return
    told_before, state.crowded_at = state.crowded_at == record.compactions, number
    if not told_before:
        state.crowded = _words(state, number + 1)


def _words(state: State, window: int) -> str:
    """The alarm, in at most 60 tokens."""
    part = max(_parts(state), key=lambda one: one.tokens)
    whole = f" of {state.edge_tokens:,}" if state.edge_tokens else ""
    size = f"about {round(part.tokens, -3):,}{whole} tokens"
    return f"Window {window}: {ENDS}. Largest part: {part.what}, {size}. {part.advice}"


def _parts(state: State) -> list[WindowPart]:
    """The parts: what is in every request, what came back after the compaction, results of calls:
    one, or all of them where no single one is more than half."""
    density = state.density or CHARS_PER_TOKEN
    since = growth_since_compaction(state.transcript, sidechain=bool(state.agent_id))
    fixed = since.input_tokens - int(since.before / density) if since.input_tokens else 0
    restored, largest = int(since.restored / density), int(since.largest / density)
    together = int(since.results / density) if since.results > 2 * since.largest else 0
    return [
        WindowPart(
            fixed or state.overhead_tokens,
            "system prompt, tools, memory files",
            "/context lists them.",
        ),
        WindowPart(restored, "the summary and the files read back", "A new session avoids that."),
        WindowPart(largest, f"the result of {since.call}", "Reading it in parts avoids that."),
        WindowPart(together, f"the results of {since.count} calls", "Fewer at once avoid that."),
    ]

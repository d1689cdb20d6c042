"""Alert when a window fills again at once: after three compactions in a row Claude Code ends the
turn.

The second of these compactions, within three steps of the first, raises one alert that says what
fills the window. Model and user read it in the new window, before Claude Code gives up.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from holdfast.record.model import Record
from holdfast.redact import redact
from holdfast.text.fence import flat
from holdfast.transcript.blocks import ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Prompt, Result, Summary
from holdfast.transcript.reader import read
from holdfast.window.state import State
from holdfast.wire.mark import CHARS_PER_TOKEN

END_BYTES = 16 << 20  # three steps take less
LONGEST_CALL = 40
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
    since = _since_boundary(state)
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


class GrowthSinceCompaction:
    """What was added to the window since its compaction, in characters."""

    def __init__(self) -> None:
        self.restored = self.before = self.largest = 0
        self.results = self.count = 0  # of tool calls
        self.input_tokens = 0  # of the first answer
        self.call = "a tool"  # that gave the largest result
        self._calls: dict[str, str] = {}

    def take(self, entry: Entry) -> None:
        if isinstance(entry, Summary | Prompt | Attachment) and not self.input_tokens:
            chars = entry.text_chars if isinstance(entry, Attachment) else len(entry.text)
            self.before += chars
            self.restored += 0 if isinstance(entry, Prompt) else chars
        elif isinstance(entry, Answer):
            self.input_tokens = self.input_tokens or entry.usage.input_side_tokens
            self._calls |= _calls(entry)
        elif isinstance(entry, Result):
            for block in entry.message.blocks:
                if isinstance(block, ToolResult):
                    self._take_result(block)

    def _take_result(self, block: ToolResult) -> None:
        self.results += block.text_chars
        self.count += 1
        if block.text_chars > self.largest:
            self.largest = block.text_chars
            self.call = self._calls.get(block.tool_use_id, "a tool")


def _since_boundary(state: State) -> GrowthSinceCompaction:
    found = GrowthSinceCompaction()
    start = max(0, os.stat(state.transcript).st_size - END_BYTES)  # noqa: PTH116
    for entry in read(state.transcript, start=start):
        if entry.is_sidechain is not bool(state.agent_id):
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            found = GrowthSinceCompaction()
        found.take(entry)
    return found


def _calls(entry: Answer) -> dict[str, str]:
    used = [block for block in entry.message.blocks if isinstance(block, ToolUse)]
    return {one.id: flat(f"{one.name} {_about(one)}", LONGEST_CALL) for one in used}


def _about(use: ToolUse) -> str:
    """A shortened path: its end, where paths differ."""
    values = (use.input.get(name) for name in ("file_path", "command", "pattern", "url", "query"))
    text = redact(next((one for one in values if isinstance(one, str)), ""))
    return "/".join(text.split("/")[-2:]) if "file_path" in use.input else text

"""The compactions of a transcript: their summaries, the briefs that our hooks gave, and what was
added to the window since the last one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.redact import redact
from holdfast.text.fence import TAG, flat
from holdfast.transcript.blocks import ToolResult, ToolUse, decoded
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Prompt, Result, Summary
from holdfast.transcript.reader import read

ADDED = "hook_additional_context"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Its place in the file, and what the model got: the summary, as the client wrote it, and the
    briefs of our hooks."""

    offset: int
    at: str
    trigger: str = ""
    summary: str | None = None
    given: tuple[str, ...] = ()


def read_compactions(path: str | os.PathLike[str], *, sidechain: bool) -> Iterator[Compaction]:
    """Yield them in order. A boundary and the summary behind it are one; client 1.0.53 wrote only
    the summary."""
    last: Compaction | None = None
    for entry in read(path):
        if entry.is_sidechain is not sidechain:
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            if last is not None:
                yield last
            last = Compaction(entry.offset, entry.timestamp, entry.trigger)
        elif isinstance(entry, Summary):
            if last is not None and last.summary is not None:
                yield last
                last = None
            last = replace(last or Compaction(entry.offset, entry.timestamp), summary=entry.text)
        elif last is not None and isinstance(entry, Attachment) and entry.kind == ADDED:
            briefs = (text for text in _texts(entry) if f"<{TAG}" in text)
            last = replace(last, given=(*last.given, *briefs))
    if last is not None:
        yield last


def _texts(entry: Attachment) -> list[str]:
    content = decoded(entry.raw).get("content")
    some = content if isinstance(content, list) else [content]
    return [one for one in some if isinstance(one, str)]


END_BYTES = 16 << 20  # three steps take less
LONGEST_CALL = 40


def growth_since_compaction(path: str, *, sidechain: bool) -> GrowthSinceCompaction:
    found = GrowthSinceCompaction()
    start = max(0, os.stat(path).st_size - END_BYTES)  # noqa: PTH116
    for entry in read(path, start=start):
        if entry.is_sidechain is not sidechain:
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            found = GrowthSinceCompaction()
        found.take(entry)
    return found


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


def _calls(entry: Answer) -> dict[str, str]:
    used = [block for block in entry.message.blocks if isinstance(block, ToolUse)]
    return {one.id: flat(f"{one.name} {_about(one)}", LONGEST_CALL) for one in used}


def _about(use: ToolUse) -> str:
    """A shortened path: its end, where paths differ."""
    values = (use.input.get(name) for name in ("file_path", "command", "pattern", "url", "query"))
    text = redact(next((one for one in values if isinstance(one, str)), ""))
    return "/".join(text.split("/")[-2:]) if "file_path" in use.input else text

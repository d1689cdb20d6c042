"""The turns of a transcript in readable form, and tool results cleared from the window.

A microcompaction drops old tool results from the window; the transcript still has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.memory.item import Item
from holdfast.memory.sources import calls
from holdfast.record.user_input import words_of
from holdfast.redact import redact
from holdfast.text import fence
from holdfast.text.sentences import clip
from holdfast.transcript import lookup
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Entry, Prompt, Result
from holdfast.transcript.reader import Unreadable, read
from holdfast.window.state import State

MOST_CHARS = 2_000_000
INPUT_CHARS = 20_000


def text(item: Item) -> str:
    """Return the turns of an item as text; empty if the file or its turns are gone."""
    try:
        return "\n".join(_bounded(_lines(item)))
    except Unreadable:
        return ""


def _lines(item: Item) -> Iterator[str]:
    chosen = _by_uuid(item) if item.uuids else _by_turn(item)
    for entry in chosen:
        for line in _render(entry):
            yield fence.line(redact(line))


def _by_uuid(item: Item) -> Iterator[Entry]:
    """Return the entries from the first of these lines to the last."""
    wanted, started = set(item.uuids), False
    for entry in read(item.file, start=item.offset):
        started = started or entry.uuid in wanted
        wanted.discard(entry.uuid)
        if started:
            yield entry
        if not wanted:
            return


def _by_turn(item: Item) -> Iterator[Entry]:
    """Return the entries of these turns, counted from the file's first answer. A prompt belongs to
    its answer."""
    turn, message, waiting = 0, "", []
    for entry in read(item.file):
        if isinstance(entry, Prompt) and not entry.is_meta:
            waiting.append(entry)
            continue
        if isinstance(entry, Answer) and entry.message_id != message:
            turn, message = turn + 1, entry.message_id
        if turn > item.last_turn:
            return
        if turn >= item.first_turn:
            yield from waiting
            yield entry
        waiting = []


def _render(entry: Entry) -> Iterator[str]:
    if isinstance(entry, Prompt | Result) and entry.text:
        words = words_of(entry)
        yield from [f"user: {words.typed}"] * bool(words.typed)
        yield from (f"not certain who said this: {text}" for text in words.unsure)
        if not any(words):
            yield f"client: {entry.text}"
    if isinstance(entry, Answer | Result):
        for block in entry.message.blocks:
            if isinstance(block, Text) and block.text and isinstance(entry, Answer):
                yield f"model: {block.text}"
            elif isinstance(block, ToolUse):
                yield f"call: {block.name} {clip(str(block.input), INPUT_CHARS)}"
            elif isinstance(block, ToolResult):
                yield f"{'error' if block.is_error else 'result'}: {block.text}"


def _bounded(lines: Iterator[str]) -> Iterator[str]:
    room = MOST_CHARS
    for line in lines:
        yield line[:room]
        room -= len(line)
        if room <= 0:
            return


def cleared_results(state: State) -> dict[str, Any]:
    """Return how often results were cleared, how many tokens, and which results: `holdfast expand
    ID` shows each."""
    transcript = Path(state.transcript)
    try:
        freed = lookup.compactions(transcript, sidechain=bool(state.agent_id))
        ids = [each for one in freed.thinned for each in one.cleared_ids]
        found = list(lookup.find_calls(transcript, ids)) if ids else []
    except (OSError, ValueError):
        freed, ids, found = lookup.Compactions(), [], []
    return {
        "count": len(freed.thinned),
        "saved_tokens": sum(one.saved_tokens for one in freed.thinned),
        "cleared_tool_use_ids": ids,
        "cleared": [
            {"id": one.use.id, "call": calls.call(one.use), "chars": one.result.text_chars}
            for one in found
        ],
    }

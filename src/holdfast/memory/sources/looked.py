"""Entries, and of each whether it holds a secret: looked through many at once.

To look for a hundred and fifty words costs 0.1 ms however short the text is, and nine of ten
entries are short. Where nothing is found in all of them together there is nothing in any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.checkpoint.extract import typed
from holdfast.checkpoint.extract.secrets import READ_CHARS, texts
from holdfast.memory.sources import calls
from holdfast.redact import which_are_clean
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Result
from holdfast.transcript.repair import decoded

MOST_ENTRIES, MOST_CHARS = 64, 256 << 10


def looked_through(entries: Iterable[Entry]) -> Iterator[tuple[Entry, bool]]:
    """Each entry, and True where none of what is taken of it holds a secret."""
    some: list[Entry] = []
    words: list[str] = []
    for entry in entries:
        some.append(entry)
        words.append("\n".join(_words(entry)))
        if len(some) == MOST_ENTRIES or sum(map(len, words)) > MOST_CHARS:
            yield from zip(some, which_are_clean(words), strict=True)
            some, words = [], []
    yield from zip(some, which_are_clean(words), strict=True)


def _words(entry: Entry) -> Iterator[str]:
    """All that may be told of it, or heard in it (see `told`)."""
    if isinstance(entry, Prompt):
        yield entry.text
    elif isinstance(entry, Attachment):
        if entry.kind == "queued_command":
            yield typed.noted(decoded(entry.raw))
    elif isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, ToolUse):
                yield from texts(block.input)
                what = calls.what(block)
                if len(what) > READ_CHARS:  # else it was among those
                    yield what[: calls.SEEN_CHARS]
    elif isinstance(entry, Result):
        for result in entry.results:
            if isinstance(result, ToolResult):
                yield from calls.seen(result.text)

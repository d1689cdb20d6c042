"""Which requests of a corpus name folders.

A word with a slash in it is a folder where some session of the same repository worked on a file
beneath it: `and/or` is none. The repositories themselves are not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from holdfast.plan.estimates.features import extract_features
from holdfast.plan.estimates.past_requests import FILE_TOOLS, PastRequest
from holdfast.plan.kinds import READ_CHARS
from holdfast.record.user_input import words_of
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Boundary, Prompt, Summary
from holdfast.transcript.steps import Operation

Told = Sequence[Operation | Boundary | Summary]
_WORD = re.compile(r"(?<![\w:/.@-])@?(?:\.{1,2}/|~/|/)?(?:[\w.-]+/)+[\w-]*(?![\w.]|/)")
_START = re.compile(r"^@?(?:\./|\.\./|~/|/)+|^@")


def folders_of(told: Told) -> Iterator[str]:
    """Every folder above a file that was worked on, by each of its ends: `a/b`, and `b`."""
    paths = {
        str(block.input.get("file_path", ""))
        for item in told
        if isinstance(item, Operation)
        for block in item.blocks
        if isinstance(block, ToolUse) and block.name in FILE_TOOLS
    }
    for folder in {above for path in paths for above in Path(path).parents}:
        parts = [part for part in folder.parts if part != "/"]
        for start in range(len(parts)):
            yield "/".join(parts[start:])


def prompts(told: Told) -> Iterator[str]:
    for item in told:
        if isinstance(item, Operation):
            for entry in (*item.before, *item.after):
                if isinstance(entry, Prompt) and not entry.is_meta:
                    yield words_of(entry).typed


def named(told: Told, used: Iterable[PastRequest], folders: set[str]) -> list[bool]:
    """For each request whether it names one; requests and prompts stand in the same order."""
    left = prompts(told)
    return [any(_names(text, folders) for text in left_until(left, one)) for one in used]


def left_until(left: Iterator[str], used: PastRequest) -> Iterator[str]:
    """The prompt this request began with; those before it were not answered."""
    for text in left:
        if text and extract_features(text) == used.words:
            yield text
            return


def _names(text: str, folders: set[str]) -> bool:
    words = (_START.sub("", word).rstrip("/") for word in _WORD.findall(text[:READ_CHARS]))
    return any(word in folders and "." not in word.rpartition("/")[2] for word in words)

"""What requests took that read files whole, divided by the size of these files.

A `Read` without an offset or a limit reads a file whole. Small files are left out: there, other
things take more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.readings import transcripts
from holdfast.plan.estimates.features import CHARS_PER_TOKEN, WordFeatures, extract_features
from holdfast.plan.estimates.past_requests import read_requests
from holdfast.record.user_input import words_of
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Boundary, Prompt, Result, Summary
from holdfast.transcript.reader import read
from holdfast.transcript.steps import Operation, operations

LEAST_TOKENS = 10_000
Told = Sequence[Operation | Boundary | Summary]


def shares(corpus: Path) -> list[float]:
    """For each request that read enough, its growth divided by what it read whole; sorted."""
    found: list[float] = []
    for path in transcripts(corpus):
        told = list(operations(read(path)))
        reads = _reads(told)
        for used in read_requests(told):
            tokens = next((tokens for words, tokens in reads if words == used.words), 0)
            if tokens >= LEAST_TOKENS:
                found.append(used.growth_tokens / tokens)
    return sorted(found)


def _reads(told: Told) -> Iterator[tuple[WordFeatures, int]]:
    """For each prompt, what was read whole until the next one, in tokens; each file once."""
    words, sizes, calls = extract_features(""), dict[str, int](), dict[str, str]()
    for item in told:
        if not isinstance(item, Operation):
            continue
        calls |= {block.id: file for block, file in _whole(item)}
        for entry in (*item.before, *item.after):
            if isinstance(entry, Prompt) and not entry.is_meta and (said := words_of(entry).typed):
                yield words, sum(sizes.values()) // CHARS_PER_TOKEN
                words, sizes = extract_features(said), {}
            if isinstance(entry, Result):
                for one in entry.results:
                    if one.tool_use_id in calls and not one.is_error:
                        sizes[calls[one.tool_use_id]] = one.text_chars
    yield words, sum(sizes.values()) // CHARS_PER_TOKEN


def _whole(item: Operation) -> Iterator[tuple[ToolUse, str]]:
    for block in item.blocks:
        if isinstance(block, ToolUse) and block.name == "Read":
            file = block.input.get("file_path")
            if isinstance(file, str) and not {"offset", "limit"} & block.input.keys():
                yield block, file

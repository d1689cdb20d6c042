"""Single tool results, by the id of their call: a transcript keeps them when the window does not.

A microcompaction clears old results from the window and names them by these ids.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from holdfast.transcript.blocks import ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Result
from holdfast.transcript.parse import parse
from holdfast.transcript.repair import Malformed
from holdfast.transcript.tally import Tally

PREFIX = "toolu_"  # how the id of a call begins
LONGEST_ID = 80
_ID = re.compile(rb'"(?:id|tool_use_id)":"([^"]{1,80})"')


class Called(msgspec.Struct, frozen=True):
    """A call, and what came back."""

    use: ToolUse
    result: ToolResult


def is_id(word: str) -> bool:
    return word.startswith(PREFIX) and len(word) <= LONGEST_ID


def find(path: Path, ids: Collection[str]) -> Iterator[Called]:
    """Those with these ids, in the order of the file. Only lines that name one are decoded."""
    wanted = {one.encode() for one in ids}
    uses: dict[str, ToolUse] = {}
    with path.open("rb") as file:
        for data in file:
            if wanted.isdisjoint(_ID.findall(data)):
                continue
            for block in _blocks(data):
                if isinstance(block, ToolUse) and block.id in ids:
                    uses[block.id] = block
                elif isinstance(block, ToolResult) and block.tool_use_id in uses:
                    yield Called(uses.pop(block.tool_use_id), block)


def _blocks(data: bytes) -> Iterator[object]:
    try:
        entry = parse(data, 0, Tally())
    except Malformed:
        return
    if isinstance(entry, Answer | Result):
        yield from entry.message.blocks

"""No field of a line that is missing, null or of another type costs the content beside it."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from holdfast.record.user_input import texts_in
from holdfast.transcript.blocks import Text, Thinking, ToolUse
from holdfast.transcript.entries import Answer, Entry, Result
from holdfast.transcript.parse import LineTally, parse
from tests.transcript import builders as b

DROPPED = object()
ODD: tuple[Any, ...] = (DROPPED, None, 7, -1, 1.5, "odd", True, [], ["odd"], {}, {"odd": 1})
NUMBERS = (2**70, "12", float("1e300"))
WORDS = re.compile(r"WORDS\d+")
BLOCKS = (
    {"type": "thinking", "thinking": "WORDS1", "signature": "x"},
    b.text("WORDS2"),
    b.tool_use("Bash", "toolu_1", command="WORDS3", description="WORDS4"),
)
LINES: dict[str, b.Line] = {
    "answer": b.answer("msg_1", *BLOCKS, requestId="r"),
    "prompt": b.prompt("WORDS1", promptId="p", origin={"kind": "human"}, permissionMode="plan"),
    "prompt in blocks": b.prompt([b.text("WORDS1"), b.text("WORDS2")]),
    "result": b.result(
        b.tool_result("WORDS1", is_error=False), b.text("WORDS2"), copy={"stdout": "x"}
    ),
    "result in parts": b.result(b.tool_result([b.text("WORDS1")]), gitBranch="main"),
    "queued": b.queueing("enqueue", "WORDS1"),
    "delivered": {
        **b.attachment(),
        "attachment": {
            "type": "queued_command",
            "prompt": "WORDS1",
            "commandMode": "prompt",
            "origin": {"kind": "human"},
        },
    },
    "summary": b.summary("WORDS1"),
    "local command": {
        **b.ENVELOPE,
        "type": "system",
        "subtype": "local_command",
        "content": "<command-name>/model</command-name>\n<command-args>WORDS1</command-args>",
    },
}
Path = tuple[str | int, ...]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every field in a line; those of a call's input and result are content."""
    if path:
        yield path
    if isinstance(value, dict) and path[-1:] != ("input",):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list) and path[-1] != "rendered":
        for at, inner in enumerate(value):
            yield from paths(inner, (*path, at))


def changed(line: b.Line, path: Path, wrong: object) -> b.Line:
    line = deepcopy(line)
    inner: Any = line
    for key in path[:-1]:
        inner = inner[key]
    if wrong is DROPPED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = wrong
    return line


def content(entry: Entry | None) -> Iterator[str]:
    if isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, Thinking):
                yield block.thinking
            elif isinstance(block, ToolUse):
                yield json.dumps(block.input)
    elif isinstance(entry, Result):
        yield from (one.text for one in entry.results)
        yield entry.text
    elif entry is not None:
        yield getattr(entry, "text", "")
        yield from texts_in(entry)


def read(line: b.Line) -> set[str]:
    entry = parse(b.encoded(line), 0, LineTally())
    return set(WORDS.findall(" ".join(content(entry))))


@pytest.mark.requirement("B14")
@pytest.mark.parametrize("kind", LINES)
def test_a_field_that_is_missing_null_or_odd_costs_nothing_beside_it(kind: str) -> None:
    line = LINES[kind]
    assert read(line) == set(WORDS.findall(json.dumps(line)))
    for path in paths(line):
        for wrong in ODD:
            if wrong is DROPPED and isinstance(path[-1], int):
                continue
            if isinstance(wrong, str) and path[-1] in ("type", "model", "operation", "subtype"):
                continue  # another kind of line, block or queue entry
            other = changed(line, path, wrong)
            assert read(other) == set(WORDS.findall(json.dumps(other))), (path, wrong)


@pytest.mark.requirement("B14", "W1")
@pytest.mark.parametrize("name", [*b.USAGE][:4])
def test_the_other_counts_stand_beside_one_that_is_none(name: str) -> None:
    for wrong in (None, DROPPED, *NUMBERS):
        line = changed(LINES["answer"], ("message", "usage", name), wrong)
        entry = parse(b.encoded(line), 0, LineTally())
        assert isinstance(entry, Answer)
        assert entry.usage.total_tokens == 3260 - b.USAGE[name]
        assert msgspec.json.encode(entry.usage)

"""Laws that hold for any file at all."""

import json
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript import GZIP_MAGIC
from holdfast.transcript.entries import Entry, TranscriptLine
from holdfast.transcript.parse import LineTally
from holdfast.transcript.reader import Reader, read
from holdfast.transcript.steps import operations
from tests.transcript.builders import (
    answer,
    attachment,
    boundary,
    encoded,
    microcompact,
    prompt,
    result,
    summary,
    tool_use,
)

pytestmark = pytest.mark.requirement("X7")


def values(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
        max_leaves=8,
    )


ANYTHING = values(st.floats())  # NaN and Infinity too, which Python writes and JSON forbids
LINES = [
    answer("m1"), answer("m2", tool_use()), prompt(), result(copy={"a": 1}), summary(), boundary(),
    microcompact(), attachment(), {"type": "progress", "data": {}}, {"type": "odd"},
]  # fmt: skip


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A good line with one value of it, at any depth, replaced by anything."""
    line = json.loads(encoded(draw(st.sampled_from(LINES))))
    inner = line
    while True:
        if not inner:
            break
        key = draw(st.sampled_from(sorted(inner)))
        if isinstance(inner[key], dict) and draw(st.booleans()):
            inner = inner[key]
        else:
            inner[key] = draw(ANYTHING)
            break
    return encoded(line)


NEARLY = st.lists(
    st.sampled_from([encoded(line) for line in LINES]) | spoiled() | st.binary(max_size=60),
    max_size=8,
).map(b"\n".join)


def everything(path: Path, tally: LineTally | None = None) -> list[Entry]:
    return list(read(path, tally=tally))


def told(entries: list[Entry]) -> list[tuple[int, TranscriptLine]]:
    return [(entry.offset, entry.line) for entry in entries]


def at_rest(data: bytes, folder: str) -> Path:
    path = Path(folder, "s.jsonl")
    path.write_bytes(data)
    return path


@given(st.binary(max_size=400) | NEARLY)
def test_any_bytes_at_all_are_read_without_a_word(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tally = LineTally()
        path = at_rest(data, folder)
        found = everything(path, tally)
        list(operations(found))
        list(operations(found, sidechain=True))
        written = [line for line in data.split(b"\n") if line.strip()]
        assert tally.lines + tally.torn_tail == len(written) or data.startswith(GZIP_MAGIC)


@given(NEARLY, st.integers(min_value=0, max_value=12))
def test_reading_in_two_halves_equals_reading_at_once(data: bytes, taken: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = at_rest(data, folder)
        at_once, halves = LineTally(), LineTally()
        whole = everything(path, at_once)
        first = Reader(path, tally=halves)
        half = list(islice(first, taken))
        rest = list(read(path, start=first.offset, tally=halves))
        assert half + rest == whole
        assert halves == at_once


@given(st.lists(st.sampled_from(LINES), max_size=8), st.integers(min_value=0))
def test_a_file_caught_while_growing_is_read_to_the_same_end(lines: list[Any], cut: int) -> None:
    data = b"".join(encoded(line) + b"\n" for line in lines)
    cut %= len(data) + 1
    with tempfile.TemporaryDirectory() as folder:
        path = at_rest(data[:cut], folder)
        reader = Reader(path)
        early = list(reader)
        path.write_bytes(data)
        assert told(early + list(reader)) == told(everything(path))
        assert reader.offset == len(data)
        assert (reader.tally.lines, reader.tally.torn) == (len(lines), 0)

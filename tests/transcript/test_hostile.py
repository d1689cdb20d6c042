"""A transcript is hostile input: whatever one line holds, the lines around it are read."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.transcript import parse
from holdfast.transcript.blocks import Text
from holdfast.transcript.entries import Answer, Entry, Prompt
from holdfast.transcript.parse import LineTally
from tests.transcript.builders import Line, answer, encoded, entries_of, prompt, result, text

pytestmark = pytest.mark.requirement("X7")


def between(folder: Path, line: Line | bytes, tally: LineTally | None = None) -> list[Entry]:
    """What one line gives, with a good line on each side of it that must survive."""
    first, *found, last = entries_of(folder, prompt("before"), line, prompt("after"), tally=tally)
    assert isinstance(first, Prompt)
    assert isinstance(last, Prompt)
    assert (first.text, last.text) == ("before", "after")
    return found


@pytest.mark.requirement("W1")
@pytest.mark.parametrize("wrong", [1, "true", None, []], ids=repr)
def test_a_line_that_may_be_a_subagents_gives_no_reading_and_no_words_of_the_user(
    tmp_path: Path, wrong: Any
) -> None:
    [entry] = between(tmp_path, answer(isSidechain=wrong))
    assert isinstance(entry, Answer)
    assert (entry.usage.total_tokens, entry.blocks) == (0, (Text("hello"),))
    [entry] = between(tmp_path, prompt("go", isSidechain=wrong))
    assert entry.line.author == "unsure"


@pytest.mark.slow
@pytest.mark.parametrize(
    "junk",
    [
        b"\0" * 5000,
        b"\xff\xfe\x00garbage",
        b"{",
        b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[1,2]",
        b"12",
        b'"assistant"',
        b"null",
        b'{"type":"assistant"} {"type":"assistant"}',
        b'{"type":"assistant","message":{"usage":{"input_tokens":NaN}}}',
        b'{"type":"assistant","cost":01}',
        b'{"type":"assistant","x":"\\q"}',
        b"9" * 10_000,
    ],
    ids=lambda junk: repr(junk[:20]),
)
def test_what_is_not_an_object_is_counted_as_torn(tmp_path: Path, junk: bytes) -> None:
    tally = LineTally()
    assert between(tmp_path, junk, tally) == []
    assert (tally.torn, tally.lines) == (1, 3)


def test_half_a_character_does_not_cost_the_usage(tmp_path: Path) -> None:
    """JavaScript writes the half of an emoji that a cut leaves as a lone surrogate."""
    tally = LineTally()
    half = encoded(answer("m1", text("HALF"))).replace(b"HALF", b"a\\ud83d b")
    [entry] = between(tmp_path, half, tally)
    assert isinstance(entry, Answer)
    assert entry.blocks == (Text("a? b"),)
    assert entry.usage.total_tokens == 3260


@pytest.mark.parametrize("hurt", [b"\xff\xfe", b"\x01\x1f", b"\xed\xa0\x80", b"\0"], ids=repr)
def test_broken_bytes_in_a_text_cost_only_themselves(tmp_path: Path, hurt: bytes) -> None:
    [entry] = between(tmp_path, encoded(prompt("a HURT b")).replace(b"HURT", hurt))
    assert isinstance(entry, Prompt)
    assert entry.text.startswith("a ")
    assert entry.text.endswith(" b")
    entry.text.encode()  # no half characters reach the inside


def test_a_byte_order_mark_and_windows_line_ends_are_no_harm(tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbf" + encoded(answer("m1")) + b"\r", encoded(answer("m2")) + b"\r"
    found = entries_of(tmp_path, *lines, b"\r", b"", b"   ")
    assert [e.message_id for e in found if isinstance(e, Answer)] == ["m1", "m2"]


def test_unknown_types_are_counted_by_name_but_not_without_end(tmp_path: Path) -> None:
    counts = LineTally()
    names = [f"type-{number}" for number in range(500)] + ["x" * 10_000]
    entries_of(tmp_path, answer(), *({"type": name} for name in names), {"a": 1}, tally=counts)
    assert len(counts.by_type) <= parse.MOST_TYPES + 1
    assert counts.by_type["assistant"] == 1
    assert sum(counts.unknown.values()) == 502
    assert max(map(len, counts.by_type)) <= 64
    shown = counts.as_dict()
    assert (shown["lines"], shown["understood"], shown["unknown"]) == (503, 1, 502)


def test_deep_nesting_costs_only_its_line(tmp_path: Path) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    line = encoded(result(copy="DEEP")).replace(b'"DEEP"', deep)
    counts = LineTally()
    assert between(tmp_path, line, counts) == []
    assert counts.torn == 1

"""A transcript is hostile input: whatever one line holds, the lines around it are read."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.transcript import blocks, parse
from holdfast.transcript.blocks import OtherBlock, Text, decoded
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Prompt, Result
from holdfast.transcript.parse import LineTally
from tests.transcript.builders import (
    Line,
    answer,
    attachment,
    boundary,
    encoded,
    entries_of,
    prompt,
    result,
    text,
    tool_result,
    tool_use,
)

pytestmark = pytest.mark.requirement("X7")

WRONG: list[Any] = [None, True, 7, -1, 1.5, "words", [], [[]], ["x"], {}, {"type": 3}, [{"a": 1}]]
TOP = (
    "type", "subtype", "uuid", "timestamp", "sessionId", "cwd", "version", "isSidechain", "agentId",
    "message", "requestedModel", "isMeta", "isCompactSummary", "toolUseResult", "compactMetadata",
    "attachment", "rendered",
)  # fmt: skip
INNER = ("id", "model", "content", "stop_reason", "usage")
COUNTS = (
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
)  # fmt: skip
NO_COUNTS: list[Any] = ["12", -1, 1.5, 2**70, [], {}, True]


def between(folder: Path, line: Line | bytes, tally: LineTally | None = None) -> list[Entry]:
    """What one line gives, with a good line on each side of it that must survive."""
    first, *found, last = entries_of(folder, prompt("before"), line, prompt("after"), tally=tally)
    assert isinstance(first, Prompt)
    assert isinstance(last, Prompt)
    assert (first.text, last.text) == ("before", "after")
    for entry in found:
        _ask_everything(entry)
    return found


def _ask_everything(entry: Entry) -> None:
    """Every property of every entry answers, whatever the line was."""
    for name in dir(type(entry)):
        if not name.startswith("_"):
            getattr(entry, name)
    if isinstance(entry, Result):
        for one in entry.results:
            _ = one.text, one.text_chars, one.image_count, one.is_error
        decoded(entry.tool_use_result)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOP)
def test_a_wrong_field_costs_at_most_its_own_line(tmp_path: Path, name: str) -> None:
    for wrong in WRONG:
        for line in (answer(), result(copy={}), boundary(), attachment()):
            between(tmp_path, {**line, name: wrong})


@pytest.mark.parametrize("name", INNER)
def test_a_wrong_message_costs_at_most_its_own_line(tmp_path: Path, name: str) -> None:
    for wrong in WRONG:
        between(tmp_path, answer(message={name: wrong}))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_prompt_or_result_costs_at_most_its_own_line(tmp_path: Path, wrong: Any) -> None:
    between(tmp_path, prompt(wrong))
    between(tmp_path, result(tool_result(wrong)))


@pytest.mark.requirement("W1")
@pytest.mark.parametrize("name", COUNTS)
def test_what_is_no_count_counts_as_nothing(tmp_path: Path, name: str) -> None:
    for wrong in NO_COUNTS:
        tally = LineTally()
        line = answer()
        count = line["message"]["usage"][name]
        line["message"]["usage"] = {**line["message"]["usage"], name: wrong}
        [entry] = between(tmp_path, line, tally)
        assert isinstance(entry, Answer)
        assert entry.usage.total_tokens == 3260 - count, wrong
        assert tally.misfit == (wrong is not None), wrong


@pytest.mark.requirement("B14")
@pytest.mark.parametrize("name", ["timestamp", "cwd", "uuid", "version", "agentId", "isMeta"])
def test_the_usage_is_still_found_beside_a_wrong_field(tmp_path: Path, name: str) -> None:
    tally = LineTally()
    [entry] = between(tmp_path, answer("m1", **{name: {"odd": []}}), tally)
    assert isinstance(entry, Answer)
    assert (entry.message_id, entry.usage.total_tokens) == ("m1", 3260)
    assert tally.misfit == 1


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


def test_one_wrong_block_leaves_the_others(tmp_path: Path) -> None:
    tally = LineTally()
    blocks = text("a"), {"type": "tool_use", "id": 5}, tool_use(command="ls"), {"type": "odd"}
    [entry] = between(tmp_path, answer("m", *blocks, 7), tally)  # type: ignore[arg-type]
    assert isinstance(entry, Answer)
    assert [type(block).__name__ for block in entry.blocks] == [
        "Text", "ToolUse", "ToolUse", "OtherBlock", "OtherBlock",
    ]  # fmt: skip
    assert tally.misfit_fields == {"id": 1, "block": 1}


def test_a_new_kind_of_block_is_no_misfit(tmp_path: Path) -> None:
    tally = LineTally()
    [entry] = between(tmp_path, answer("m", {"type": "fallback", "id": [1]}), tally)
    assert isinstance(entry, Answer)
    assert entry.blocks == (OtherBlock("fallback"),)
    assert tally.misfit == 0


def test_a_boundary_with_odd_numbers_is_still_a_boundary(tmp_path: Path) -> None:
    [entry] = between(tmp_path, boundary(preTokens="many"))
    assert isinstance(entry, Boundary)
    assert entry.resets_window
    assert entry.pre_tokens is None


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


def test_a_number_beyond_all_numbers_harms_only_its_field(tmp_path: Path) -> None:
    huge = encoded(answer("m1")).replace(b'"uuid":"u-1"', b'"uuid":1e999')
    [entry] = between(tmp_path, huge)
    assert isinstance(entry, Answer)
    tally = LineTally()
    no_count = encoded(answer("m1")).replace(b'"output_tokens":50', b'"output_tokens":1e999')
    [entry] = between(tmp_path, no_count, tally)
    assert isinstance(entry, Answer)
    assert (entry.usage.output_tokens, tally.misfit) == (0, 1)


def test_half_a_character_does_not_cost_the_usage(tmp_path: Path) -> None:
    """JavaScript writes the half of an emoji that a cut leaves as a lone surrogate."""
    tally = LineTally()
    half = encoded(answer("m1", text("HALF"))).replace(b"HALF", b"a\\ud83d b")
    [entry] = between(tmp_path, half, tally)
    assert isinstance(entry, Answer)
    assert entry.blocks == (Text("a? b"),)
    assert entry.usage.total_tokens == 3260
    assert tally.misfit_fields == {"(bytes)": 1}


@pytest.mark.parametrize("hurt", [b"\xff\xfe", b"\x01\x1f", b"\xed\xa0\x80", b"\0"], ids=repr)
def test_broken_bytes_in_a_text_cost_only_themselves(tmp_path: Path, hurt: bytes) -> None:
    [entry] = between(tmp_path, encoded(prompt("a HURT b")).replace(b"HURT", hurt))
    assert isinstance(entry, Prompt)
    assert entry.text.startswith("a ")
    assert entry.text.endswith(" b")
    entry.text.encode()  # no half characters reach the inside


def test_broken_text_in_a_result_is_readable_when_asked(tmp_path: Path) -> None:
    line = encoded(result(tool_result("a HURT"), copy="b HURT")).replace(b"HURT", b"\xff")
    [entry] = between(tmp_path, line)
    assert isinstance(entry, Result)
    assert entry.results[0].text == "a \ufffd"
    assert decoded(entry.tool_use_result) == "b \ufffd"


def test_of_two_equal_keys_the_last_counts(tmp_path: Path) -> None:
    twice = encoded(answer("m1"))[:-1] + b',"version":"9"}'
    [entry] = between(tmp_path, twice)
    assert entry.version == "9"


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
    assert counts.as_dict() == {
        "lines": 503,
        "understood": 1,
        "left_alone": 0,
        "unknown": 502,
        "torn": 0,
        "oversized": 0,
        "misfit": 0,
    }


def test_a_copy_of_a_request_is_never_judged(tmp_path: Path) -> None:
    tally = LineTally()
    blob = {"type": "api-request-blob", "message": {"usage": "x", "content": 5}, "uuid": []}
    assert between(tmp_path, blob, tally) == []
    assert (tally.misfit, tally.unknown) == (0, {})


def test_a_large_line_is_not_turned_into_a_tree_of_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LARGEST_TREE_BYTES", 1000)
    monkeypatch.setattr("holdfast.transcript.lenient_line.LARGEST_TREE_BYTES", 1000)
    counts = LineTally()
    assert between(tmp_path, answer(uuid=[[]] * 1000), counts) == []
    assert counts.torn == 1
    [words] = between(tmp_path, result(tool_result("x" * 2000)))
    [tree] = between(tmp_path, result(tool_result([[]] * 1000)))
    assert isinstance(words, Result)
    assert isinstance(tree, Result)
    assert words.results[0].text_chars == 2000
    assert tree.results[0].text == ""


def test_deep_nesting_costs_only_its_line(tmp_path: Path) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    line = encoded(result(copy="DEEP")).replace(b'"DEEP"', deep)
    counts = LineTally()
    assert between(tmp_path, line, counts) == []
    assert counts.torn == 1


def test_an_attachment_that_is_no_object_is_none(tmp_path: Path) -> None:
    assert between(tmp_path, {**attachment(), "attachment": "words"}) == []
    [entry] = between(tmp_path, {**attachment(), "attachment": {"type": 5}})
    assert isinstance(entry, Attachment)
    assert entry.kind == ""


def test_lines_too_short_to_say_anything_are_counted_and_not_parsed(tmp_path: Path) -> None:
    counts = LineTally()
    lines = [b"", b" ", b"x", b"{}", b"[]", b"\0"]
    found = entries_of(tmp_path, answer("m1"), *lines, answer("m2"), tally=counts)
    assert [e.message_id for e in found if isinstance(e, Answer)] == ["m1", "m2"]
    assert counts.malformed == 4

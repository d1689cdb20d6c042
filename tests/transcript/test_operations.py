"""One answer, one operation: however many lines, whatever stands between."""

from pathlib import Path

import pytest

from holdfast.transcript import steps
from holdfast.transcript.blocks import Text, ToolUse
from holdfast.transcript.entries import Attachment, Boundary, Prompt, Result, Summary
from holdfast.transcript.reader import read
from holdfast.transcript.steps import Operation, operations
from tests.transcript.builders import (
    USAGE,
    Line,
    answer,
    attachment,
    boundary,
    microcompact,
    prompt,
    result,
    summary,
    text,
    tool_result,
    tool_use,
    written,
)


def told(
    folder: Path, *lines: Line | bytes, sidechain: bool = False
) -> list[Operation | Boundary | Summary]:
    return list(operations(read(written(folder, *lines)), sidechain=sidechain))


def only(folder: Path, *lines: Line | bytes) -> Operation:
    [operation] = told(folder, *lines)
    assert isinstance(operation, Operation)
    return operation


@pytest.mark.requirement("W1")
def test_lines_that_share_a_message_id_are_one_operation(tmp_path: Path) -> None:
    later = {**USAGE, "output_tokens": 400}
    operation = only(
        tmp_path,
        answer("m1", text("a"), message={"stop_reason": None}, timestamp="2026-01-01T00:00:00Z"),
        answer("m1", tool_use(), message={"usage": later}, timestamp="2026-01-01T00:00:09Z"),
    )
    assert operation.message_id == "m1"
    assert operation.usage.output_tokens == 400
    assert not operation.output_is_partial
    assert [type(block) for block in operation.blocks] == [Text, ToolUse]
    assert operation.timestamp == "2026-01-01T00:00:00Z"
    assert operation.epoch_s == 1767225600.0
    assert (operation.model, operation.version) == ("claude-sonnet-4-6", "2.1.325")


@pytest.mark.requirement("W1")
def test_a_result_between_two_lines_of_one_answer_belongs_to_it(tmp_path: Path) -> None:
    operation = only(
        tmp_path,
        answer("m1", tool_use(use_id="t1")),
        result(tool_result("one", "t1")),
        answer("m1", tool_use(use_id="t2")),
        result(tool_result("two", "t2")),
        attachment(),
        prompt("go on"),
    )
    assert len(operation.lines) == 2
    assert [type(entry) for entry in operation.after] == [Result, Result, Attachment, Prompt]
    assert [one.text for one in operation.results] == ["one", "two"]
    assert [one.text for one in operation.prompts] == ["go on"]
    assert [one.text for one in operation.attachments] == ["mind the gap"]


@pytest.mark.requirement("W1")
def test_an_answer_repeated_later_is_not_counted_again(tmp_path: Path) -> None:
    found = told(tmp_path, answer("m1"), answer("m2"), answer("m1"), answer("m3"))
    assert [one.message_id for one in found if isinstance(one, Operation)] == ["m1", "m2", "m3"]


@pytest.mark.requirement("W1")
def test_sidechains_copies_and_unknown_types_never_count(tmp_path: Path) -> None:
    inner = answer("m9")["message"]
    found = told(
        tmp_path,
        answer("m1", isSidechain=True),
        {"type": "api-request-blob", "message": inner},
        {"type": "api-request-blob", "message": "not even a message"},
        {"type": "newly-invented", "message": inner, "isSidechain": False},
        {"message": inner},
        answer("m2"),
    )
    assert [one.message_id for one in found if isinstance(one, Operation)] == ["m2"]
    assert len(found) == 1


def test_a_compaction_stands_between_the_operations_it_parts(tmp_path: Path) -> None:
    found = told(tmp_path, answer("m1"), boundary(), summary(), prompt(), answer("m2"))
    assert [type(one) for one in found] == [Operation, Boundary, Summary, Operation]
    assert not [one for one in found if isinstance(one, Boundary) and one.implied]


def test_a_summary_without_a_boundary_is_one(tmp_path: Path) -> None:
    """Client 1.0.53 wrote only the summary."""
    found = told(tmp_path, answer("m1"), summary(), answer("m2"), boundary(), summary())
    kinds = [type(one) for one in found]
    assert kinds == [Operation, Boundary, Summary, Operation, Boundary, Summary]
    implied = [one for one in found if isinstance(one, Boundary)]
    assert [one.implied for one in implied] == [True, False]
    assert (implied[0].pre_tokens, implied[0].post_tokens) == (None, None)
    assert implied[0].resets_window


def test_a_microcompact_boundary_does_not_part_an_answer(tmp_path: Path) -> None:
    found = told(tmp_path, microcompact(), answer("m1"), microcompact(), answer("m1"), result())
    assert [type(one) for one in found] == [Boundary, Operation, Boundary]
    operation = found[1]
    assert isinstance(operation, Operation)
    assert len(operation.lines) == 2
    assert len(operation.results) == 1


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(("limit", "value"), [("LARGEST_SPAN_BYTES", 2000), ("MOST_ENTRIES", 1)])
def test_an_operation_without_end_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(steps, limit, value)
    last = {**USAGE, "output_tokens": 777}
    endless = [answer("m1"), *(result() for _ in range(50)), *(answer("m1") for _ in range(50))]
    operation = only(tmp_path, *endless, answer("m1", message={"usage": last}))
    assert len(operation.after) < 10
    assert len(operation.lines) == 1
    assert operation.usage.output_tokens == 777

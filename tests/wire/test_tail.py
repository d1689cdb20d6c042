"""The reading, from the end of the transcript."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire import scan, tail
from tests.builders import (
    a_boundary,
    a_microcompaction,
    a_prompt,
    a_result,
    a_summary,
    a_transcript,
    an_answer,
)

DENSITY = 3.5


def _used(path: Path, *, sidechain: bool = False, overhead: int = 0) -> int:
    return tail.read(str(path), sidechain, DENSITY).used_tokens(DENSITY, overhead)


@pytest.mark.requirement("W1")
def test_the_newest_answer_s_four_counts_are_the_reading(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(40_000), an_answer(61_234))
    assert _used(path) == 61_234


@pytest.mark.requirement("W1")
def test_a_result_between_two_lines_of_one_answer_is_counted(tmp_path: Path) -> None:
    path = a_transcript(
        tmp_path / "t.jsonl",
        an_answer(50_000, id="m1", calls=("t1",)),
        a_result("t1", "x" * 3_500),
        an_answer(50_000, id="m1", calls=("t2",)),
    )
    assert 51_000 <= _used(path) <= 51_020


@pytest.mark.requirement("W1")
def test_what_the_newest_answer_already_read_is_not_added_again(tmp_path: Path) -> None:
    path = a_transcript(
        tmp_path / "t.jsonl",
        an_answer(40_000, calls=("t1",)),
        a_result("t1", "x" * 35_000),
        a_prompt("y" * 3_500),
        an_answer(51_000),
    )
    assert _used(path) == 51_000


@pytest.mark.requirement("W1")
@pytest.mark.parametrize(
    "noise",
    [
        {"type": "api-request-blob", "message": an_answer(999_999)["message"]},
        {"type": "of-the-future", "message": an_answer(999_999)["message"]},
        {"type": "progress", "data": {"usage": {"input_tokens": 999_999}, "role": "assistant"}},
        an_answer(999_999, sidechain=True),
        an_answer(60, model="<synthetic>"),
        {**an_answer(60), "message": {"role": "assistant", "model": "m", "usage": "none"}},
    ],
)
def test_lines_that_are_no_answers_never_count(tmp_path: Path, noise: dict[str, object]) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000), noise)
    assert _used(path) == 50_000


@pytest.mark.requirement("W1")
def test_a_quotation_of_a_transcript_is_not_an_answer(tmp_path: Path) -> None:
    quoted = json.dumps(an_answer(999_999))
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000), a_result("t1", quoted))
    assert 50_000 < _used(path) < 51_000


@pytest.mark.requirement("W1")
def test_an_output_counted_while_it_streamed_is_made_up_from_its_words(tmp_path: Path) -> None:
    answer = an_answer(50_000, output=1, text="w" * 3_500, stop_reason=None)
    assert 50_990 <= _used(a_transcript(tmp_path / "t.jsonl", answer)) <= 51_000


@pytest.mark.requirement("W5")
def test_a_subagent_s_file_is_read_by_its_sidechain_lines(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(12_000, sidechain=True))
    assert _used(path, sidechain=True) == 12_000
    assert tail.read(str(path)).basis == "none"


@pytest.mark.requirement("W4")
def test_a_boundary_resets_the_reading_at_once(tmp_path: Path) -> None:
    path = a_transcript(
        tmp_path / "t.jsonl", an_answer(167_500), a_boundary(post=4_000), a_summary()
    )
    seen = tail.read(str(path), False, DENSITY)
    assert seen.basis == "boundary"
    assert seen.is_counted_by_client()
    assert seen.used_tokens(DENSITY, 18_000) == 22_000


@pytest.mark.requirement("W4")
def test_without_post_tokens_the_summary_is_measured_and_that_is_an_estimate(
    tmp_path: Path,
) -> None:
    path = a_transcript(
        tmp_path / "t.jsonl", an_answer(167_500), a_boundary(post=None), a_summary("s" * 7_000)
    )
    seen = tail.read(str(path), False, DENSITY)
    assert not seen.is_counted_by_client()
    assert seen.used_tokens(DENSITY, 18_000) == 20_000


@pytest.mark.requirement("W4")
def test_a_summary_without_a_boundary_is_one(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(154_000), a_summary("s" * 7_000))
    assert _used(path, overhead=18_000) == 20_000


@pytest.mark.requirement("W9")
def test_what_a_microcompaction_cleared_is_subtracted_until_the_next_answer(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000), a_microcompaction(20_000))
    assert _used(path) == 30_000
    assert not tail.read(str(path)).is_counted_by_client()
    lines = [an_answer(50_000), a_microcompaction(20_000), an_answer(31_000)]
    assert _used(a_transcript(tmp_path / "u.jsonl", *lines)) == 31_000


@pytest.mark.slow
@pytest.mark.requirement("W2")
def test_the_search_stops_after_four_megabytes(tmp_path: Path) -> None:
    noise = json.dumps({"type": "progress", "data": "n" * 1_000}) + "\n"
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(an_answer(50_000)) + "\n" + noise * 4_300)
    assert tail.read(str(path)).basis == "none"


@pytest.mark.requirement("X7")
@pytest.mark.parametrize("torn", ['{"type":"assistant","usage"', "\0\0\0", "{" * 100_000, "\ufeff"])
def test_a_torn_or_hostile_last_line_is_passed_over(tmp_path: Path, torn: str) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000), torn)
    assert _used(path) == 50_000


@pytest.mark.requirement("X7")
def test_a_folder_a_pipe_and_a_path_that_is_none_say_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path), str(tmp_path / "pipe"), "a\nb", "a\0b", ""):
        assert tail.read(path).basis == "none"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "message", "usage", "content", "id", "text", "isSidechain"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.requirement("X7")
@given(value=VALUES, kind=st.sampled_from(["assistant", "user", "attachment", "system"]))
def test_wrong_types_in_any_field_never_raise(
    tmp_path_factory: pytest.TempPathFactory, value: object, kind: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    line = {"type": kind, "message": value, "usage": value, "rendered": value, "id": "assistant"}
    nested = {"type": kind, "message": {"usage": value, "content": value, "model": value}}
    text = "".join(json.dumps(one) + "\n" for one in (line, nested, {**nested, "subtype": "user"}))
    (folder / "t.jsonl").write_text(text + '"compact_boundary"\n')
    seen = tail.read(str(folder / "t.jsonl"))
    assert seen.used_tokens(DENSITY, 0) >= 0


@pytest.mark.requirement("X7")
@given(data=st.binary(max_size=200))
def test_any_bytes_parse_or_are_a_value_error(data: bytes) -> None:
    assert isinstance(scan.parse_object(data), dict)

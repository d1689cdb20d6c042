"""What the model sees of a long output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.archive import outputs
from holdfast.archive.outputs import HEAD_CHARS, LONGEST_LINE, TAIL_CHARS, WRONG_CHARS, preview

ID = "out-0123abcd"
MOST_CHARS = HEAD_CHARS + TAIL_CHARS + WRONG_CHARS + LONGEST_LINE + 500


@pytest.mark.requirement("R7")
def test_head_and_end_are_shown_and_the_way_to_the_rest() -> None:
    lines = [f"line {number}" for number in range(2_000)]
    shown = preview("\n".join(lines), ID).splitlines()
    assert shown[:3] == lines[:3]
    assert shown[-3:] == lines[-3:]
    [said] = [line for line in shown if line.startswith("[holdfast")]
    assert ID in said
    assert "of 18,889 characters" in said


@pytest.mark.requirement("R7")
def test_lines_that_look_wrong_are_kept_with_their_numbers() -> None:
    lines = [f"ok {number}" for number in range(2_000)]
    lines[900] = "src/tide.py:12: error: heights is undefined"
    lines[901] = "    at tide (src/tide.py:12)"
    lines[1_200] = "FAILED tests/test_tide.py::test_low"
    shown = preview("\n".join(lines), ID).splitlines()
    assert f"901: {lines[900]}" in shown
    assert f"1201: {lines[1_200]}" in shown


@pytest.mark.requirement("R7")
@given(st.lists(st.text(max_size=300) | st.just("error: x\n"), min_size=1), st.integers(20, 200))
def test_a_preview_is_short_and_begins_and_ends_as_the_whole(parts: list[str], times: int) -> None:
    text = ("".join(parts) + "some words\n") * 20 * times
    shown = preview(text, ID)
    assert len(shown) <= MOST_CHARS
    assert shown.count(ID) == 3
    assert shown.startswith(text[: HEAD_CHARS // 2])
    assert shown.endswith(text[-TAIL_CHARS // 2 :])


@pytest.mark.requirement("R7")
@given(st.text(max_size=3_000), st.integers(1, 500))
def test_pieces_together_are_the_whole(text: str, most: int) -> None:
    said, offset = "", 0
    while True:
        found = outputs.excerpt_at(text, offset, most)
        said += found.text
        offset = found.next_offset
        if not offset:
            break
    assert said == text


@pytest.mark.requirement("R7")
def test_lines_are_found_by_words_with_those_around_them() -> None:
    text = "\n".join(f"row {n} {'Tide LOW' if n == 50 else 'calm'}" for n in range(100))
    found = outputs.excerpt_with(text, "low tide", 0, 1_000)
    assert found.text.splitlines() == [
        "49: row 48 calm",
        "50: row 49 calm",
        "51: row 50 Tide LOW",
        "52: row 51 calm",
        "53: row 52 calm",
    ]
    assert outputs.excerpt_with(text, "storm", 0, 1_000).text == ""

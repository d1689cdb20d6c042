"""Where a sentence ends, and where a dot only looks like it."""

import pytest

from holdfast.text.sentences import sentences


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "whole",
    [
        "Use tabs vs. spaces as the file does.",
        "Never commit generated files, e.g. tide.pb.go or lunar.min.js.",
        "1. Read src/tide.py first",
    ],
)
def test_one_sentence_stays_whole(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fix tide.py. Then run it!", ["Fix tide.py.", "Then run it!"]),
        ("Gauges, piers, etc. Then stop.", ["Gauges, piers, etc.", "Then stop."]),
        ("不要改接口。以后都用中文。", ["不要改接口。", "以后都用中文。"]),
    ],
)
def test_and_several_are_told_apart(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts

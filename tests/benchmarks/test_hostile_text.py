"""Texts of others that are made to be slow take time in proportion to their length."""

import pytest
from benchmarks.hostile_text import measured

ROOM = 25.0  # what is quadratic takes a hundred times as long; a busy machine takes twice as long


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("brief.summary_coverage", "one letter"),
        ("brief.summary_coverage", "typographic quotes"),
        ("brief.summary_coverage", "opening brackets"),
        ("text.fence: code", "backticks"),
        ("text.sentences: one line", "ellipses"),
        ("text.sentences: one line", "numbers with dots"),
    ],
)
def test_ten_times_the_text_takes_about_ten_times_as_long(reader: str, text: str) -> None:
    assert measured(reader, text).ratio < ROOM

"""Whatever is said, in whatever order, reading goes on; and what was lost is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.checkpoint.sections import sections_of
from holdfast.record import turns
from holdfast.record.model import load, save
from holdfast.record.reader import RecordReader
from holdfast.transcript.parse import LineTally, parse
from holdfast.wire import log
from tests.checkpoint.sessions import Session

_SAID = (
    "Don't do that never again always please no not forget it use tabs instead of spaces the rule "
    "you may now stop must nie 不要 忘れて 1. A yes ? ! . : `x` … are fine anymore"
)
WORDS = (*_SAID.split(), "\n", "\u200b")
prompted = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text(max_size=40)


@pytest.mark.slow
@pytest.mark.requirement("X1", "C12")
@given(st.lists(prompted, max_size=8))
def test_any_prompts_in_any_order_are_read(said: list[str]) -> None:
    session = Session()
    for words in said:
        session.user(words).says(words)
    reader = RecordReader()
    for line in session.data().splitlines():
        if entry := parse(line, 0, LineTally()):
            reader.feed(entry)
    assert load(save(reader.record)) is not None


@pytest.mark.requirement("C12")
def test_an_entry_we_stumble_over_costs_that_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbles(record: Any, texts: Any, *more: Any, **named: Any) -> str:
        if "drift" in str(texts):
            raise ZeroDivisionError
        return prompt(record, texts, *more, **named)

    monkeypatch.delenv("HOLDFAST_RAISE")
    prompt = turns.prompt
    monkeypatch.setattr(turns, "prompt", stumbles)
    session = Session().user("Never drift.").user("Mind the drift.").user("Always print tides.")
    record = session.record(tmp_path)
    assert ([turn.asked for turn in record.turns], record.lost) == (["Always print tides."], 2)
    assert Path(log.path()).read_text().count("was passed over") == 1
    [told] = sections_of(record)["Active Issues"]
    assert told == "2 entries of the transcript could not be read, and are missing here"

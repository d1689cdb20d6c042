"""Whatever is said, in whatever order, reading goes on; and what was lost is reported."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.sections import sections_of
from holdfast.record import turns
from holdfast.wire import log
from tests.checkpoint.sessions import Session


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

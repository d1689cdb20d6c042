"""What a reader of a checkpoint meets: each thing once, in order, and as it stands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.document import Document, settled
from holdfast.checkpoint.sections import sections_of, snapshot_of
from holdfast.lifecycle import offer
from tests.checkpoint.sessions import Session

REQUEST = "Please build the tide tables, and report the hours that the gauge missed."
WHEN = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("words", "done"),
    [("The hours are told and the tests pass. All is committed.", True), ("Now the gaps.", False)],
)
def test_the_request_is_said_once_and_as_it_stands(words: str, done: bool, tmp_path: Path) -> None:
    session = Session().user(REQUEST).runs("make test", "ok").says(words)
    found = sections_of(session.facts(tmp_path))
    said = [item for items in found.values() for item in items]
    assert sum(REQUEST in item for item in said) == 1
    assert (f"request, reported done by the model: {REQUEST}" in found["In Progress"]) is done
    assert ("reported" in found["Next Steps"][0]) is done


@pytest.mark.requirement("C2")
def test_what_was_asked_stands_in_order(tmp_path: Path) -> None:
    asked = [f"Please write chapter {number} of the tide tables, whole." for number in range(3)]
    session = Session().user(asked[0]).works(2).user(asked[1]).works(2).user(asked[2]).user("go on")
    why = sections_of(session.facts(tmp_path))["Why Changed"]
    assert why == [asked[0], asked[1], "the request under In Progress", "go on"]


@pytest.mark.requirement("C2")
def test_each_error_that_was_resolved_is_kept(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for file, error in (("load.py", "E  KeyError: 'bom'"), ("gaps.py", "E  ValueError: hour")):
        session.runs("make test", error, fails=True)
        broken = session.facts(tmp_path)
        assert "passes again" not in str(sections_of(broken)), "it does not, now"
        assert "passes again" not in compose(broken).text
        session.edits(f"/work/project/{file}").runs("make test", "ok")
    resolved = sections_of(session.facts(tmp_path))["Errors Resolved"]
    assert ["load.py" in resolved[0], "gaps.py" in resolved[1]] == [True, True]
    assert "KeyError" in resolved[0] and "ValueError" in resolved[1]


@pytest.mark.requirement("B7")
def test_an_offer_says_the_request_once(tmp_path: Path) -> None:
    facts = Session().user(REQUEST).says("Now the gaps.").facts(tmp_path)
    kept = Document(
        WHEN, "auto", "/p", "s", sections=sections_of(facts), snapshot=snapshot_of(facts)
    )
    text = offer.text_for("/p/.claude/checkpoints/a.md", settled(kept), WHEN)
    assert text.count("tide tables") == 1

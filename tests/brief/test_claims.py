"""What a summary calls done although the transcript says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.claims import contradicted
from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B6")
def test_two_false_claims_in_one_sentence_are_two_flags(tmp_path: Path) -> None:
    session = Session().user("Please finish the ledger.")
    session.runs("pytest tests/test_ledger.py", "FAILED tests/test_ledger.py::a", fails=True)
    session.calls("TaskCreate", "Task #1 created", subject="Write the ledger migration script")
    said = "The ledger migration script is done and pytest tests/test_ledger.py passes."
    found = contradicted(session.facts(tmp_path), said)
    assert len(found) == 2
    assert any("last failed" in claim.evidence for claim in found)
    assert any("the task is pending" in claim.evidence for claim in found)

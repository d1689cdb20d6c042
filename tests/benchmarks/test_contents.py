"""The comparison of checkpoints with labels counts what it says it counts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.contents import measure, rows, same

from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C14")
LABEL: dict[str, Any] = {
    "session": "tides/one.jsonl.gz",
    "open": [
        {"what": "print the heights of the tide", "kind": "task", "evidence": "pending"},
        {"what": "translate the almanac", "kind": "request unfinished", "evidence": "not begun"},
    ],
    "nothing_open": False,
    "traps": ["the parser for gauges (written)"],
    "decisions": [{"what": "metres, not feet", "question": "which unit?", "by": "user"}],
    "changed": ["/work/project/gauge.py (created)", "/work/project/lost.py"],
}


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[Path, Path]:
    session = Session().user("Which hours did the gauge miss? Use metres, not feet.")
    session.calls("TaskCreate", "Task #1", subject="Print the heights of the tide")
    session.calls("TaskCreate", "Task #2", subject="Write the parser for gauges")
    session.edits("/work/project/gauge.py").says("Two are missing.")
    corpus, labels = tmp_path / "corpus", tmp_path / "labels"
    for folder in (corpus / "tides", labels):
        folder.mkdir(parents=True)
    (corpus / "tides/one.jsonl.gz").write_bytes(gzip.compress(session.data()))
    (labels / "one.json").write_text(json.dumps(LABEL))
    (labels / "list.json").write_text(json.dumps(["tides/one.jsonl.gz"]))
    return corpus, labels


def test_found_missed_and_false_items_are_told_apart(labelled: tuple[Path, Path]) -> None:
    [(session, checks)] = measure(*labelled)
    assert session == "tides/one.jsonl.gz"
    found = {(one.measure, one.group, one.ok) for one in checks}
    assert {
        ("open items found", "task", True),
        ("open items found", "request unfinished", False),
        ("true in Next Steps", "", True),
        ("true in Next Steps", "trap", False),
        ("decisions found anywhere", "user", True),
        ("decisions found in Key Decisions", "user", False),
    } <= found
    assert [(one.text, one.ok) for one in checks if "files" in one.measure] == [
        ("/work/project/gauge.py", True),
        ("/work/project/lost.py", False),
    ]


def test_a_row_says_how_many_of_how_many(labelled: tuple[Path, Path]) -> None:
    found = list(rows(*labelled))
    assert ("open items found", "1 of 2, 50%", "≥ 90 %") in found
    assert ("edited files in What Changed", "1 of 2, 50%", "all") in found


@pytest.mark.parametrize(
    ("label", "shown", "is_same"),
    [
        ("Create PR", "Create PR (in progress, set in turn 4)", True),
        ("write the parser", "Writes a parser for gauges (planned, since turn 2)", True),
        ("write the parser", "turn 3, not answered yet: the parser fails", False),
        ("turn 3", "turn 3", False),
    ],
)
def test_distinctive_words_decide(label: str, shown: str, is_same: bool) -> None:
    assert same(label, shown) is is_same

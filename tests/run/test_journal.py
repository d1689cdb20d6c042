"""The journal: whole lines or none, damage set aside and said, nothing readable lost."""

import json
import os
from pathlib import Path

import pytest

from holdfast.run.journal import Journal, JournalError, read_history
from tests.run.theatre import ALONE, Theatre


@pytest.mark.slow
@pytest.mark.requirement("P5", "X6", "X7")
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_journal_that_cannot_be_read_is_not_taken_for_an_empty_one(
    theatre: Theatre, kind: str
) -> None:
    theatre.plan.write_text(ALONE)
    theatre.run()
    theatre.journal.rename(theatre.folder / "aside")
    if kind == "pipe":
        os.mkfifo(theatre.journal)
    else:
        theatre.journal.mkdir()
    found = theatre.run()
    assert isinstance(found.exception, JournalError)
    assert len(theatre.log) == 1


@pytest.mark.slow
@pytest.mark.requirement("P5", "X6", "X7")
def test_a_session_that_names_a_path_touches_no_file_but_its_own(theatre: Theatre) -> None:
    theatre.plan.write_text(ALONE)
    theatre.run()
    other = theatre.folder / "../../other.end"
    other.write_text("precious")
    with theatre.journal.open("a") as file:
        file.write(json.dumps({"kind": "started", "session": "../../other", "tasks": []}) + "\n")
    (theatre.folder / "unnoted.end").write_text(" " * 4096)
    theatre.run()
    assert other.read_text() == "precious"
    assert not list(theatre.folder.glob("*.end"))


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    "line",
    [
        b'{"kind": "ended", "session": "never started", "result": "done"}',
        b'{"kind": "started", "session": "s", "tasks": [{"hash": "h"}]}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_makes_no_sense_tells_nothing(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "journal.jsonl").write_bytes(line + b"\n")
    assert read_history(Journal(str(tmp_path), only_read=True)).sessions == []

"""Files and commands: all that were used, exactly as they are called."""

from pathlib import Path

import pytest

from holdfast.record import files
from holdfast.record.files import COUNT_EVERY, MOST_EDITED, MOST_FILES
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session

ODD_NAMES = [
    "with blank.py",
    'quo"te.py',
    "it's.py",
    "Größe.py",
    "日本語.md",
    "emoji😀.txt",
    "a.b.c",
]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_file_keeps_its_name_whatever_it_is(name: str, tmp_path: Path) -> None:
    session = Session().calls("Read", file_path=f"/work/project/src/{name}")
    assert list(session.record(tmp_path).files) == [f"src/{name}"]


@pytest.mark.requirement("C2")
def test_files_are_those_read_or_edited_and_not_those_only_named(tmp_path: Path) -> None:
    session = (
        Session().calls("Read", file_path="/work/project/read.py").edits("/work/project/edited.py")
    )
    session.runs("python tools/run.py").calls("Grep", "src/found.py:3:x = 1", pattern="x")
    session.says("The fault is in src/tide.py.").runs("ls", "src/listed.py")
    found = session.record(tmp_path).files
    assert {name: (used.reads, used.edits) for name, used in found.items()} == {
        "read.py": (1, 0),
        "edited.py": (0, 1),
    }


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(("lines", "expected"), [([" }", "-b = 2"], (1, 1)), ([7], (0, 0))])
def test_an_edit_tells_its_size(lines: object, expected: object, tmp_path: Path) -> None:
    hunks = [{"newStart": 3, "lines": ["+def ebb():"]}, {"newStart": 10, "lines": lines}]
    session = Session().edits("/work/project/a.py", copy={"structuredPatch": hunks})
    used = session.record(tmp_path).files["a.py"]
    assert (used.added, used.removed) == expected


def _read_many(session: Session, count: int) -> Session:
    for number in range(0, count, 30):
        session.runs(f"cat {' '.join(f'lib/part{number}/file{n}.py' for n in range(30))}")
    return session


@pytest.mark.requirement("C14", "X7")
def test_an_edited_file_stays_however_many_others_are_seen_after_it(tmp_path: Path) -> None:
    session = Session().user("Mend them.")
    edited = [f"src/edited{number}.py" for number in range(40)]
    for name in edited:
        session.edits(f"/work/project/{name}")
    found = _read_many(session, 6 * MOST_FILES).record(tmp_path).files
    assert set(edited) <= set(found)
    assert len(found) <= len(edited) + 2 * MOST_FILES + COUNT_EVERY


@pytest.mark.slow
@pytest.mark.requirement("X7")
def test_the_number_of_edited_files_is_bounded_as_well() -> None:
    record = Record()
    for number in range(3 * MOST_EDITED):
        record.op = number
        files.use(record, f"src/edited{number}.py", "edits")
    assert len(record.files) <= 2 * MOST_EDITED + COUNT_EVERY
    assert f"src/edited{3 * MOST_EDITED - 1}.py" in record.files

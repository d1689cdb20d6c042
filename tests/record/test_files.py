"""Files and commands: all that were used, exactly as they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import sections_of
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

PIER = "/work/project/src/pier.py"


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_file_keeps_its_name_whatever_it_is(name: str, tmp_path: Path) -> None:
    session = Session().calls("Read", file_path=f"/work/project/src/{name}")
    assert list(session.record(tmp_path).files) == [f"src/{name}"]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "command",
    [
        "pytest -k 'a or b' tests/ -x",
        'echo "a b"; make   build',
        "cargo run -- --name='Jörg Müller'",
        "./scripts/実行.sh --all",
        "python - <<'EOF'\nprint('hi')\nEOF",
    ],
)
def test_a_command_is_exact_to_the_character(command: str, tmp_path: Path) -> None:
    assert [*Session().runs(command).record(tmp_path).commands] == [command]


@pytest.mark.requirement("C2")
def test_files_are_those_used_not_only_those_edited(tmp_path: Path) -> None:
    session = (
        Session().calls("Read", file_path="/work/project/read.py").edits("/work/project/edited.py")
    )
    session.runs("python tools/run.py").calls("Grep", "src/found.py:3:x = 1", pattern="x")
    session.says("The fault is in src/tide.py.").runs("ls", "src/listed.py")
    found = session.record(tmp_path).files
    assert set(found) == {"read.py", "edited.py", "tools/run.py"}
    assert (found["read.py"].reads, found["edited.py"].edits, found["tools/run.py"].runs) == (
        1,
        1,
        1,
    )


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(("lines", "expected"), [([" }", "-b = 2"], 10), (None, 0), ([7], 0)])
def test_an_edit_tells_its_line(lines: object, expected: int, tmp_path: Path) -> None:
    hunks = [{"newStart": 3, "lines": ["+def ebb():"]}, {"newStart": 10, "lines": lines}]
    session = Session().edits("/work/project/a.py", copy={"structuredPatch": hunks})
    assert session.record(tmp_path).files["a.py"].line == expected


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


@pytest.mark.requirement("C14", "X7")
def test_the_file_that_is_one_too_many_is_not_the_one_just_written(tmp_path: Path) -> None:
    session = _read_many(Session().user("Write it."), 2 * MOST_FILES)
    for number in range(2 * COUNT_EVERY):
        session.calls("Write", file_path=f"/work/project/new{number}.py", content="x")
    record = session.record(tmp_path)
    assert record.lost == 0
    assert sum(used.edits for used in record.files.values()) == 2 * COUNT_EVERY


@pytest.mark.slow
@pytest.mark.requirement("X7")
def test_the_number_of_edited_files_is_bounded_as_well() -> None:
    record = Record()
    for number in range(3 * MOST_EDITED):
        record.op = number
        files.use(record, f"src/edited{number}.py", "edits")
    assert len(record.files) <= 2 * MOST_EDITED + COUNT_EVERY
    assert f"src/edited{3 * MOST_EDITED - 1}.py" in record.files


@pytest.mark.requirement("X7")
def test_folders_moved_over_and_over_leave_a_bounded_number_of_files(tmp_path: Path) -> None:
    session = _read_many(Session(), 300)
    for number in range(30):
        session.runs(f"mv {'lib' if not number else f'lib{number}'} lib{number + 1}")
    assert len(session.record(tmp_path).files) <= 2 * MOST_FILES + COUNT_EVERY


@pytest.mark.requirement("C2")
def test_what_runs_only_after_a_failure_removes_nothing_where_there_was_none(
    tmp_path: Path,
) -> None:
    session = Session().edits("/work/project/src/tide.py")
    session.runs("git checkout HEAD -- src/tide.py || git rm -f src/tide.py")
    assert not session.record(tmp_path).files["src/tide.py"].gone


def test_a_piece_of_code_in_a_command_is_no_file(tmp_path: Path) -> None:
    line = 'python -c "import json, sys; json.load(sys.stdin)" && cat "app/(shop)/[id]/page.tsx"'
    found = Session().runs(line).record(tmp_path).files
    assert [name for name in found if "(" in name] == ["app/(shop)/[id]/page.tsx"]


def what_changed(session: Session, folder: Path) -> list[str]:
    return sections_of(session.record(folder))["What Changed"]


@pytest.mark.requirement("C14")
def test_files_nobody_had_used_are_changed_by_a_move_or_a_removal(tmp_path: Path) -> None:
    session = Session().user("Tidy up.").runs("cd docs && mv ebb.md flood.md old/")
    session.runs("rm notes/moon.md /tmp/a.txt /private/var/folders/x1/T/b.txt").runs(
        "git rm -q --cached kept.md"
    )
    removed = ("notes/moon.md", "docs/flood.md", "docs/ebb.md")
    assert what_changed(session, tmp_path) == [f"{name} (removed, turn 1)" for name in removed]


def test_a_redirection_is_no_place_to_move_to(tmp_path: Path) -> None:
    session = Session().runs("mv tide.py ebb.py 2>&1").runs('cp ebb.py "$(mktemp -d)/ebb.py"')
    files = session.record(tmp_path).files
    assert files["tide.py"].gone and files["ebb.py"].is_changed
    assert not [name for name in files if "&" in name or "$(" in name]


@pytest.mark.requirement("C14")
def test_a_file_that_is_not_there_was_not_read(tmp_path: Path) -> None:
    missing = "<tool_use_error>File does not exist.</tool_use_error>"
    session = Session().user("Look.").calls("Read", missing, error=True, file_path=PIER)
    assert session.record(tmp_path).files == {}
    too_long = "File content (30000 tokens) exceeds maximum allowed tokens"
    session.calls("Read", too_long, error=True, file_path=PIER)
    [used] = session.record(tmp_path).files.values()
    assert used.reads == 1


@pytest.mark.requirement("C2")
def test_a_project_in_a_temporary_folder_has_files(tmp_path: Path) -> None:
    session = Session().user("Write notes.")
    session.runs("echo 'x = 1' >> notes.py").runs("echo 'x = 1' > /tmp/other/scratch.py")
    session.lines = [
        {**line, "cwd": "/tmp/try"} for line in session.lines if isinstance(line, dict)
    ]
    record = session.record(tmp_path)
    assert list(record.files) == ["notes.py"] and record.files["notes.py"].is_changed

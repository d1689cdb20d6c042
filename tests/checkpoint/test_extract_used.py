"""Files and commands: all that were used, exactly as they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    assert list(session.facts(tmp_path).files) == [f"src/{name}"]


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
    (found,) = Session().runs(command).facts(tmp_path).commands.values()
    assert found.line == command


@pytest.mark.requirement("C2")
def test_files_are_those_used_not_only_those_edited(tmp_path: Path) -> None:
    session = (
        Session().calls("Read", file_path="/work/project/read.py").edits("/work/project/edited.py")
    )
    session.runs("python tools/run.py").calls("Grep", "src/found.py:3:x = 1", pattern="x")
    files = session.facts(tmp_path).files
    assert set(files) == {"read.py", "edited.py", "tools/run.py", "src/found.py"}
    assert (files["read.py"].reads, files["edited.py"].edits, files["tools/run.py"].runs) == (
        1,
        1,
        1,
    )


@pytest.mark.requirement("C2")
def test_an_edit_tells_its_lines(tmp_path: Path) -> None:
    patch = {"structuredPatch": [{"oldStart": 9, "oldLines": 2, "newStart": 10, "newLines": 4}]}
    session = Session().edits("/work/project/a.py", copy=patch)
    assert session.facts(tmp_path).files["a.py"].ranges == [(10, 13)]


@pytest.mark.requirement("C2")
def test_a_todo_left_in_the_code_is_noted_until_it_goes(tmp_path: Path) -> None:
    session = Session().edits("/work/project/a.py", "x", "x  # TODO: handle None")
    assert session.facts(tmp_path).files["a.py"].left == ["x  # TODO: handle None"]
    session.edits("/work/project/a.py", "x  # TODO: handle None", "x or y")
    assert session.facts(tmp_path).files["a.py"].left == []


@pytest.mark.requirement("C2")
def test_looking_around_is_no_command_to_keep(tmp_path: Path) -> None:
    session = Session().runs("ls -la && cat a.txt | head").runs("git status").runs("cd x && make")
    assert list(session.facts(tmp_path).commands) == ["cd x && make"]


@pytest.mark.requirement("C2")
def test_references_are_told_apart(tmp_path: Path) -> None:
    session = Session().user("See https://example.org/a?b=1, PR #42 and ABC-123; commit 1a2b3c4.")
    session.runs("git checkout -b fix/odd-names").runs(
        "git commit -m x", "[fix/odd-names 9f8e7d6] Mend it"
    )
    kinds = {key: one.kind for key, one in session.facts(tmp_path).references.items()}
    assert kinds == {
        "https://example.org/a?b=1": "url",
        "#42": "request",
        "ABC-123": "ticket",
        "1a2b3c4": "hash",
        "fix/odd-names": "branch",
        "9f8e7d6": "commit",
    }


@pytest.mark.requirement("C2")
def test_names_are_kept_under_the_file_they_were_written_in(tmp_path: Path) -> None:
    session = Session().edits("/work/project/a.py", "pass", "return parse_header(lineNumber)")
    names = session.facts(tmp_path).names
    assert {name: one.file for name, one in names.items()} == {
        "parse_header": "a.py",
        "lineNumber": "a.py",
    }

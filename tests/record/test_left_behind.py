"""What was left in a file is open while the file says so; a file is listed while it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C2", "B4")
TIDE = "/work/project/src/tide.py"


def written(content: str) -> Session:
    return Session().calls("Write", file_path=TIDE, content=content)


def left(session: Session, folder: Path) -> list[str]:
    return session.record(folder).files["src/tide.py"].left


def test_what_a_rewritten_file_no_longer_says_is_done(tmp_path: Path) -> None:
    session = written("# TODO: ebb\n# TODO: flood\n")
    assert left(session, tmp_path) == ["# TODO: ebb", "# TODO: flood"]
    session.calls("Write", file_path=TIDE, content="x = 1\n" * 1000 + "# TODO: flood\n")
    assert left(session, tmp_path) == ["# TODO: flood"]


@pytest.mark.parametrize(
    ("line", "is_left"),
    [
        ("# TODO: print the moon", True),
        ("    x = 1  # FIXME (ada) the moon", True),
        ("// A stub - TODO: the moon", True),
        (" * TODO the moon", True),
        ('if "TODO" in line or "FIXME" in line:', False),
        ('"use TASK-XXX: the moon",', False),
        ("# lists what is a TODO in the harbour", False),
    ],
)
def test_only_a_mark_in_a_comment_is_left_to_do(line: str, is_left: bool, tmp_path: Path) -> None:
    assert left(written(f"def ebb(): ...\n{line}\n"), tmp_path) == [line.strip()] * is_left


def test_a_document_that_speaks_of_marks_leaves_nothing_to_do(tmp_path: Path) -> None:
    text = "- The pilot's list (10 TODOs) is merged\n# TODO: the moon\n"
    session = Session().user("Go.").calls("Write", file_path="/work/project/NOTES.md", content=text)
    assert sections_of(session.record(tmp_path))["Active Issues"] == []


def test_a_mark_that_stood_there_before_an_edit_is_not_the_sessions(tmp_path: Path) -> None:
    old = "# TODO: the moon\nx = 1"
    session = Session().calls("Edit", file_path=TIDE, old_string=old, new_string=f"{old}0")
    assert left(session, tmp_path) == []
    new = f"{old}0\n# TODO: the sun"
    session.calls("Edit", file_path=TIDE, old_string=f"{old}0", new_string=new)
    session.calls("Edit", file_path=TIDE, old_string=new, new_string=f"{new}\ny = 2")
    assert left(session, tmp_path) == ["# TODO: the sun"]


@pytest.mark.parametrize(
    "command",
    ["rm src/tide.py", "rm -rf src/", "git rm -q src/tide.py && make test", f"rm '{TIDE}'"],
)
def test_what_a_removed_file_said_is_over(command: str, tmp_path: Path) -> None:
    assert left(written("# FIXME: ebb").runs(command), tmp_path) == []
    refused = written("# FIXME: ebb").runs(command, "rm: cannot remove it", fails=True)
    assert left(refused, tmp_path) == ["# FIXME: ebb"]


def told(session: Session, folder: Path) -> str:
    return (
        compose(session.record(folder), 2000)
        .text.partition("## Files")[2]
        .partition("## Commands")[0]
    )


@pytest.mark.parametrize("command", ["rm src/tide.py", "rm -rf src/", "git rm -q src/tide.py"])
def test_a_file_that_was_removed_is_not_listed_until_it_is_there_again(
    command: str, tmp_path: Path
) -> None:
    session = written("def ebb(): ...").calls("Read", file_path="/work/project/notes/a.md")
    assert "tide.py" in told(session, tmp_path)
    session.runs(command)
    assert "tide.py" not in told(session, tmp_path)
    assert "ebb" not in told(session, tmp_path)
    assert "notes/a.md" in told(session, tmp_path)
    changed = sections_of(session.record(tmp_path))["What Changed"]
    assert changed == ["src/tide.py - edited 1 time; removed"]
    session.calls("Write", file_path=TIDE, content="def flood(): ...")
    assert "tide.py" in told(session, tmp_path)


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("mv src/tide.py src/ebb.py", "src/ebb.py"),
        ("git mv src/tide.py lib/", "lib/tide.py"),
        ("mv -f src/tide.py lib", "lib/tide.py"),
        ("mkdir -p lib && mv src/tide.py src/other.py lib", "lib/tide.py"),
        ("mv src lib", "lib/tide.py"),
    ],
)
def test_a_file_that_was_moved_is_known_by_its_new_name(
    command: str, new: str, tmp_path: Path
) -> None:
    session = written("# TODO: ebb").runs(command)
    files = session.record(tmp_path).files
    assert files["src/tide.py"].gone
    assert (files[new].edits, files[new].left) == (1, ["# TODO: ebb"])
    assert "src/tide.py" not in told(session, tmp_path)
    refused = written("# TODO: ebb").runs(command, "mv: cannot stat", fails=True)
    assert not refused.record(tmp_path).files["src/tide.py"].gone

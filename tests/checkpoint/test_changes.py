"""What a checkpoint says about edits, commits, failures and runs: quoted, with the turn."""

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

REQUEST = "Please build the tide tables, and report the hours that the gauge missed."
pytestmark = pytest.mark.requirement("C2", "C14")


def made(name: str, subject: str) -> str:
    return f"[fix/ebb {name}] {subject}\n 1 file changed"


def test_a_file_stands_with_the_commit_that_git_printed_after_its_newest_edit(
    tmp_path: Path,
) -> None:
    session = Session().user(REQUEST).edits("/work/project/ebb.py").edits("/work/project/low.py")
    session.runs("git add . && git commit -m Mend", made("1a2b3c4", "Mend")).edits("/etc/tides")
    session.user("And the moon?").edits("/work/project/low.py").edits("/work/project/sea.py")
    session.runs("git commit -qam 'Draw it' && git log", made("5d6e7f8", "Draw it"), fails=True)
    session.runs("git commit -qm 'Now'").edits("/work/project/sea.py")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "sea.py (turn 2)",
        "commit “Now” (turn 2)",
        "commit 5d6e7f8 “Draw it” (turn 2), edited before it: low.py",
        "/etc/tides (turn 1)",
        "commit 1a2b3c4 “Mend” (turn 1), edited before it: ebb.py",
    ]


def test_the_newest_checks_stand_with_the_end_of_their_output(tmp_path: Path) -> None:
    session = Session().user(REQUEST).runs("ls", "tide.py").edits("/work/project/tide.py")
    session.runs("make tides", "1 failed").edits("/work/project/tide.py")
    session.runs("make 2>&1 | tail -9", "one\ntwo").runs("make 2>&1 | tail -3", "2 passed")
    session.runs("npm run lint", "clean").runs("git status", "clean")
    assert sections_of(session.edits("/work/project/moon.py").record(tmp_path))["Commands"] == [
        "`make 2>&1 | tail -3` (turn 1, 2026-11-15 06:25, 1 edit since): “2 passed”",
        "`make tides` (turn 1, 2026-11-15 06:25, 2 edits since): “1 failed”",
    ]


def test_a_failure_of_an_earlier_turn_stands_on_one_line_and_says_that_it_was_not_run_again(
    tmp_path: Path,
) -> None:
    session = Session().user(REQUEST)
    for number in range(1, 6):
        session.runs(f"make {number}", f"a.c:{number}: error: no moon\nstop", fails=True)
    session.says("It fails.").user("Then the moon first.").edits("/work/project/ebb.c")
    session.runs("cc ebb.c", "ebb.c:9: error: no ebb\nstop", fails=True)
    assert sections_of(session.record(tmp_path))["Active Issues"] == [
        "`cc ebb.c` (since turn 2)\nebb.c:9: error: no ebb",
        *(
            f"`make {number}` (since turn 1, 1 edit since): a.c:{number}: error: no moon"
            for number in (5, 4, 3)
        ),
        "(2 more failed in earlier turns: see `holdfast search`, or the tool `recall`)",
    ]


def test_what_failed_before_the_newest_commit_or_was_only_a_script_is_past(tmp_path: Path) -> None:
    session = Session().user(REQUEST).edits("/work/project/ebb.c")
    session.runs("git commit -m Mend", "ebb.c:1: error: no moon", fails=True)
    session.runs("python3 - <<'E'\nx(\nE", 'File "a.py", line 3: error: no', fails=True)
    session.runs("git commit -nm Mend", made("1a2b3c4", "Mend")).says("Done.")
    assert sections_of(session.user("And the moon?").record(tmp_path))["Active Issues"] == []


def test_a_file_stands_with_the_line_of_the_answer_that_names_it(tmp_path: Path) -> None:
    session = Session().user(REQUEST).edits("/work/project/a.py").says("Let me mend it.")
    session.edits("/work/project/b.py").runs("make", "2 passed")
    session.says("All pass:\n\n- `a.py` reports the hours now\n- the moon is left\n- b.py:")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "b.py (turn 1): “Let me mend it.”",
        "a.py (turn 1): “`a.py` reports the hours now”",
    ]

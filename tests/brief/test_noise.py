"""What tells nothing is left out, and what is told is told plainly."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.brief.compose import compose
from holdfast.cli.brief import brief
from tests.checkpoint.sessions import Session

REQUEST = "Please make the importer read files with a byte order mark, and test it."
HEREDOC = "python3 - <<'END'\nimport csv\n\nprint(csv.reader(open('tides.csv')))\nEND"


def text_of(session: Session, folder: Path, max_tokens: int = 2000) -> str:
    return compose(session.record(folder), max_tokens).text


@pytest.mark.requirement("B4")
def test_a_repeated_call_counts_at_its_last_place(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for command in ("make test", "git status", "git log", "make test"):
        session.runs(command)
    assert "last calls: Bash `git status`; Bash `git log`; Bash `make test`\n" in text_of(
        session, tmp_path
    )


@pytest.mark.requirement("B4")
def test_a_command_of_several_lines_is_shown_with_all_of_them(tmp_path: Path) -> None:
    text = text_of(Session().user(REQUEST).runs(HEREDOC), tmp_path)
    told = f"`{' ⏎ '.join(HEREDOC.replace(chr(10) * 2, chr(10)).splitlines())}`"
    assert f"- {told} printed at step 1: ok\n" in text


@pytest.mark.requirement("B4")
def test_what_the_client_put_aside_is_no_file_of_the_work(tmp_path: Path) -> None:
    aside = "/home/sam/.claude/projects/-home-sam/752b636e/tool-results/b2lul8tkc.txt"
    session = Session().user(REQUEST).calls("Read", file_path=aside)
    assert "tool-results" not in text_of(session, tmp_path).partition("## Files")[2]


@pytest.mark.requirement("B10")
def test_reasons_read_like_words(tmp_path: Path) -> None:
    session = Session().user(REQUEST).edits("/work/project/src/a.py").runs("make test", "").works(2)
    path = str(session.written(tmp_path))
    out = CliRunner().invoke(brief, ["--transcript", path, "--explain"]).stdout
    assert "↳ used once, last at step 1\n" in out
    assert "↳ run once, last at step 2, " in out and "1 times" not in out


@pytest.mark.requirement("B13")
def test_commands_that_differ_behind_a_pipe_are_listed_once_as_run_last(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for lines in (50, 100, 20):
        session.runs(f"make test 2>&1 | tail -{lines}")
    listed = text_of(session.user("And now the docs."), tmp_path).partition("## Commands")[2]
    assert listed.count("make test") == 1 and "tail -20" in listed

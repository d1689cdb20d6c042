"""What tells nothing is left out, and what is told is told plainly."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from tests.checkpoint.sessions import Session

REQUEST = "Please make the importer read files with a byte order mark, and test it."


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


@pytest.mark.requirement("B13")
def test_commands_that_differ_behind_a_pipe_are_listed_once_as_run_last(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for lines in (50, 100, 20):
        session.runs(f"make test 2>&1 | tail -{lines}")
    listed = text_of(session.user("And now the docs."), tmp_path).partition("## Commands")[2]
    assert listed.count("make test") == 1 and "tail -20" in listed

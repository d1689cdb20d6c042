"""A file is listed while it is there."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C2", "B4")
TIDE = "/work/project/src/tide.py"


def written(content: str) -> Session:
    return Session().calls("Write", file_path=TIDE, content=content)


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
    assert changed == ["src/tide.py (turn 1): removed since"]
    session.calls("Write", file_path=TIDE, content="def flood(): ...")
    assert "tide.py" in told(session, tmp_path)

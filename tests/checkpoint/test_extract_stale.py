"""What is over is not told as open."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C2", "B4")
TIDE = "/work/project/src/tide.py"
LIST = "Please do these things now:\n1. write the parser\n2. write the printer\n3. write the docs"


def written(content: str) -> Session:
    return Session().calls("Write", file_path=TIDE, content=content)


def left(session: Session, folder: Path) -> list[str]:
    return session.facts(folder).files["src/tide.py"].left


def test_what_a_rewritten_file_no_longer_says_is_done(tmp_path: Path) -> None:
    session = written("# TODO: ebb\n# TODO: flood\n")
    assert left(session, tmp_path) == ["# TODO: ebb", "# TODO: flood"]
    session.calls("Write", file_path=TIDE, content="x = 1\n" * 1000 + "# TODO: flood\n")
    assert left(session, tmp_path) == ["# TODO: flood"]


@pytest.mark.parametrize(
    "command",
    ["rm src/tide.py", "rm -rf src/", "git rm -q src/tide.py && make test", f"rm '{TIDE}'"],
)
def test_what_a_removed_file_said_is_over(command: str, tmp_path: Path) -> None:
    assert left(written("# FIXME: ebb").runs(command), tmp_path) == []
    refused = written("# FIXME: ebb").runs(command, "rm: cannot remove it", fails=True)
    assert left(refused, tmp_path) == ["# FIXME: ebb"]


def told(session: Session, folder: Path) -> str:
    return compose(session.facts(folder), 2000).text.partition("## Files")[2]


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
    changed = sections_of(session.facts(tmp_path))["What Changed"]
    assert changed == ["src/tide.py - edited 1 time, removed or moved since"]
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
    files = session.facts(tmp_path).files
    assert files["src/tide.py"].gone
    assert (files[new].edits, files[new].left) == (1, ["# TODO: ebb"])
    assert "src/tide.py" not in told(session, tmp_path)
    refused = written("# TODO: ebb").runs(command, "mv: cannot stat", fails=True)
    assert not refused.facts(tmp_path).files["src/tide.py"].gone


def test_a_list_the_model_reported_done_is_not_open(tmp_path: Path) -> None:
    session = Session().user(LIST)
    session.says("All three are done: parser, printer and docs are written.")
    facts = session.user("thanks, go on with that").says("ok").facts(tmp_path)
    assert [task.status for task in facts.tasks.values()] == ["reported done"] * 3
    assert "asked for: write the parser" not in compose(facts, 2000).text
    told = "reported done by the model: write the parser / write the printer / write the docs"
    assert told in sections_of(facts)["In Progress"]
    assert "was reported done" in sections_of(facts)["Next Steps"][0]


@pytest.mark.parametrize(
    "report",
    [
        "I did write the parser, it is done.",
        "Parser, printer and docs: none works, they are not done.",
    ],
)
def test_what_was_not_reported_stays_open(report: str, tmp_path: Path) -> None:
    facts = Session().user(LIST).says(report).user("hm, and now what").facts(tmp_path)
    assert {task.text for task in facts.tasks.values() if task.is_open} >= {
        "write the printer",
        "write the docs",
    }

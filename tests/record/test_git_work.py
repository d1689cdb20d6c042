"""What the session's own commands did with git, as git printed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

MADE = "[fix/ebb 1a2b3c4] Mend the ebb\n 1 file changed"
HERE = "git add -A && git commit {0} <<'EOF'\nMend the ebb\n\nBecause; it's broken.\nEOF\n{1}"


def told(session: Session, folder: Path) -> str:
    found = sections_of(session.record(folder))["In Progress"]
    return next((one for one in found if one.startswith("git, by this session: ")), "")[22:]


def edited() -> Session:
    return Session().user("Mend it, please.").edits("/work/project/tide.py")


@pytest.mark.requirement("C14")
def test_changes_without_a_commit_are_said_to_be_so(tmp_path: Path) -> None:
    assert told(edited(), tmp_path) == "no commit was made in this session"
    session = edited().runs("git commit -m 'Mend the ebb'", "error: hook failed", fails=True)
    session.runs("git commit -qm 'Mend the ebb'", "nothing to commit, working tree clean")
    session.runs("git commit --dry-run").runs("echo git commit -m x")
    session.runs(
        "cd /tmp && mkdir try && cd try && git commit -m 'Try it'", "[main 1a2b3c4] Try it"
    )
    session.runs("git init lab && cd lab && git commit -m 'Try it'", "[main 1a2b3c4] Try it")
    assert told(session, tmp_path) == "no commit was made in this session"
    assert told(Session().user("Look.").runs("ls"), tmp_path) == "", "nothing was changed"


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "output", "last"),
    [
        ("git commit -m 'Mend the ebb'", MADE, "1a2b3c4 “Mend the ebb”"),
        ('git commit -qm "Mend the ebb"', "", "“Mend the ebb”"),
        ("rtk git commit -m 'Mend the ebb'", "ok", "“Mend the ebb”"),
        (HERE.format("-q -F -", ""), "", "“Mend the ebb”"),
        (
            HERE.format("-q -F -", "git log --oneline -1"),
            "1a2b3c4 Mend the ebb",
            "1a2b3c4 “Mend the ebb”",
        ),
        (HERE.format('-m "$(cat', ')"'), MADE, "1a2b3c4 “Mend the ebb”"),
    ],
)
def test_the_last_commit_is_named(command: str, output: str, last: str, tmp_path: Path) -> None:
    session = edited().runs(command, output)
    assert told(session, tmp_path) == (f"1 commit, the last {last}, no git push after it")


@pytest.mark.requirement("C14")
def test_pushes_requests_and_later_changes_are_told(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x && git push", f"{MADE}\n main -> main")
    last = "1 commit, the last 1a2b3c4 “Mend the ebb”"
    assert told(session, tmp_path) == f"{last}, pushed"
    session.runs("gh pr create --fill", "Warning\nhttps://git.example.org/quay/pull/31")
    assert told(session, tmp_path) == f"{last}, pushed; pull request #31 created"
    session.runs("gh pr merge 31 --squash --auto").runs("gh pr merge 31", "X not", fails=True)
    assert told(session, tmp_path) == f"{last}, pushed; pull request #31 created"
    session.runs("gh pr merge 31 --squash --delete-branch", "Merged.")
    session.edits("/work/project/moon.py").edits("/tmp/notes.md")
    merged = "pull request #31 merged; changed after that commit: moon.py"
    assert told(session, tmp_path) == f"{last}, pushed; {merged}"
    session.runs("git commit --amend --no-edit", MADE).runs("git push", "[rejected]", fails=True)
    assert told(session, tmp_path) == f"{last}, no git push after it; pull request #31 merged"


@pytest.mark.requirement("C14")
def test_a_request_that_a_server_created_is_known(tmp_path: Path) -> None:
    session = edited().calls(
        "mcp__github__create_pull_request", '{"url": "https://git.example.org/quay/pull/7"}'
    )
    assert told(session, tmp_path).endswith("; pull request #7 created")


@pytest.mark.requirement("C14")
def test_a_long_past_commit_is_known(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x", MADE)
    session.calls("Read", "tide " * 800_000, file_path="/work/project/long.txt").says("Done.")
    assert "1a2b3c4 “Mend the ebb”" in told(session, tmp_path)

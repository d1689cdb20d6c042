"""Where git stands, from its own files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast.checkpoint.git_state import git_state


def _git(folder: Path, *words: str) -> str:
    made = ["git", "-C", str(folder), "-c", "user.name=s", "-c", "user.email=s@localhost"]
    return subprocess.run([*made, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.requirement("C2")
def test_the_branch_and_its_commit_are_told(tmp_path: Path) -> None:
    assert git_state(str(tmp_path)) == ""
    _git(tmp_path, "init", "--quiet", "--initial-branch", "work/tides")
    assert git_state(str(tmp_path)) == "branch work/tides"
    _git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    commit = _git(tmp_path, "rev-parse", "HEAD").strip()
    assert git_state(str(tmp_path)) == f"branch work/tides at {commit[:12]}"
    _git(tmp_path, "worktree", "add", "--quiet", str(tmp_path / "w"), "-b", "other")
    assert git_state(str(tmp_path / "w")).startswith("branch other")
    _git(tmp_path, "checkout", "--quiet", "--detach")
    assert git_state(str(tmp_path)) == f"detached at {commit[:12]}"


@pytest.mark.requirement("X7")
def test_a_head_that_leads_away_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/../../../../etc/passwd\n")
    assert "root" not in git_state(str(tmp_path))

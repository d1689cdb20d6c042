"""Where git stands, from its own files."""

from __future__ import annotations

import os
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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit on the branch `work/tides`."""
    found = tmp_path / "repository"
    found.mkdir()
    _git(found, "init", "--quiet", "--initial-branch", "work/tides")
    _git(found, "commit", "--quiet", "--allow-empty", "-m", "one")
    return found


def _told(folder: Path) -> str:
    """What git itself says, in the same words."""
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD").strip()
    return f"branch {branch} at {_git(folder, 'rev-parse', 'HEAD')[:12]}"


@pytest.mark.requirement("C2")
def test_the_commit_is_told_after_refs_were_packed(repository: Path) -> None:
    for name in ("work/tide", "a", "work/tides-2", "z"):
        _git(repository, "branch", name)
    _git(repository, "tag", "--annotate", "-m", "x", "work/tides")
    _git(repository, "pack-refs", "--all")
    assert not (repository / ".git" / "refs" / "heads" / "work").exists()
    assert git_state(str(repository)) == "branch work/tides at " + _told(repository)[-12:]
    _git(repository, "commit", "--quiet", "--allow-empty", "-m", "two")
    assert git_state(str(repository))[-12:] == _git(repository, "rev-parse", "HEAD")[:12]


@pytest.mark.slow
@pytest.mark.requirement("C2")
@pytest.mark.parametrize("packed", [False, True])
def test_the_commit_of_a_worktree_is_told(repository: Path, packed: bool) -> None:
    tree = repository.parent / "tree"
    _git(repository, "worktree", "add", "--quiet", str(tree), "-b", "other")
    _git(tree, "commit", "--quiet", "--allow-empty", "-m", "two")
    if packed:
        _git(repository, "pack-refs", "--all")
    assert git_state(str(tree)) == _told(tree) != _told(repository)


@pytest.mark.slow
@pytest.mark.requirement("C2")
def test_the_commit_of_a_submodule_and_of_a_folder_inside_is_told(repository: Path) -> None:
    outer = repository.parent / "outer"
    outer.mkdir()
    _git(outer, "init", "--quiet", "--initial-branch", "main")
    allowed = ("-c", "protocol.file.allow=always")
    _git(outer, *allowed, "submodule", "--quiet", "add", str(repository), "inner")
    assert ".." in (outer / "inner" / ".git").read_text()
    assert git_state(str(outer / "inner")) == _told(repository)
    (outer / "deep" / "down").mkdir(parents=True)
    assert git_state(str(outer / "deep" / "down")) == "branch main"


@pytest.mark.requirement("C2")
def test_a_bare_repository_beside_its_worktree_is_found(repository: Path) -> None:
    around = repository.parent / "around"
    around.mkdir()
    _git(around, "clone", "--quiet", "--bare", str(repository), ".bare")
    (around / ".git").write_text("gitdir: ./.bare\n")
    assert git_state(str(around)) == _told(repository)


@pytest.mark.requirement("C2")
def test_a_branch_that_is_another_name_for_one_is_followed(repository: Path) -> None:
    _git(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/work/tides")
    _git(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    commit = _git(repository, "rev-parse", "HEAD")[:12]
    assert git_state(str(repository)) == f"branch alias at {commit}"
    _git(repository, "symbolic-ref", "refs/heads/work/tides", "refs/heads/alias")
    assert git_state(str(repository)) == "branch alias at an unknown commit"


@pytest.mark.requirement("C2")
def test_a_head_that_is_a_link_is_read_as_the_branch_it_names(repository: Path) -> None:
    told = git_state(str(repository))
    (repository / ".git" / "HEAD").unlink()
    (repository / ".git" / "HEAD").symlink_to("refs/heads/work/tides")
    assert git_state(str(repository)) == told == _told(repository)


@pytest.mark.requirement("C2")
def test_longer_hashes_are_commits_too(tmp_path: Path) -> None:
    _git(tmp_path, "init", "--quiet", "--initial-branch", "main", "--object-format", "sha256")
    _git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    assert git_state(str(tmp_path)) == _told(tmp_path)
    _git(tmp_path, "pack-refs", "--all")
    assert git_state(str(tmp_path)) == _told(tmp_path)


def test_a_reftable_is_said_to_be_unknown(repository: Path) -> None:
    """As git 2.45 lays one out; the git that is installed here may be older."""
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    (repository / ".git" / "reftable").mkdir()
    assert git_state(str(repository)) == "branch unknown: git keeps its refs in a reftable here"


@pytest.mark.slow
@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/../../../secret",
        "refs/heads/../../../../secret",
        "../secret",
        "refs/heads/..",
        "/etc/passwd",
        "refs//secret",
        "refs/heads/a\x1b[31mb",
        "refs/heads/.hidden",
    ],
)
def test_no_name_in_head_leads_out_of_the_refs(repository: Path, ref: str) -> None:
    """Whatever lies there looks like a commit, so that only the name can keep it out."""
    for place in (repository / "secret", repository.parent / "secret"):
        place.write_text("5ec2e7" * 6 + "5ec2\n")
    (repository / ".git" / "HEAD").write_text(f"ref: {ref}\n")
    assert git_state(str(repository)) == ""
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/work/tides\n")
    (repository / ".git" / "refs" / "heads" / "work" / "tides").write_text(f"ref: {ref}\n")
    assert git_state(str(repository)) == "branch work/tides at an unknown commit"


@pytest.mark.requirement("X7")
@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "commondir", "refs/heads/work/tides"])
def test_a_pipe_in_place_of_a_file_is_no_wait(repository: Path, name: str) -> None:
    _git(repository, "pack-refs", "--all")
    place = repository / ".git" / name
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)
    assert git_state(str(repository)) in ("", "branch work/tides", _told_of_packed(repository))


def _told_of_packed(repository: Path) -> str:
    packed = repository / ".git" / "packed-refs"
    lines = packed.read_text().splitlines() if packed.is_file() else []
    [commit] = [line[:12] for line in lines if line.endswith(" refs/heads/work/tides")] or [""]
    return f"branch work/tides at {commit}"


@pytest.mark.requirement("X7")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_above_the_project_is_not_asked(repository: Path) -> None:
    project = repository / "mine"
    project.mkdir()
    assert git_state(str(project)) == _told(repository)
    os.chown(repository, 65534, 65534)
    assert git_state(str(project)) == ""


@pytest.mark.requirement("X7")
def test_a_head_that_leads_away_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/../../../../etc/passwd\n")
    assert "root" not in git_state(str(tmp_path))

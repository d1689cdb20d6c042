"""The folder is the one the client would use, switches and all."""

import json
import subprocess
from pathlib import Path

import pytest

from holdfast.client.memory_folder import find_memory_folder, slug

OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.email=a@b", "-c", "user.name=n"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def _usual(home: Path, project: Path) -> str:
    return f"{home}/.claude/projects/{slug(str(project.resolve()))}/memory"


@pytest.mark.requirement("M1")
def test_subfolders_and_worktrees_of_a_repository_share_its_folder(
    tmp_path: Path, own_home: Path
) -> None:
    project = tmp_path / "repo"
    (project / "a" / "b").mkdir(parents=True)
    (project / "x").write_text("x")
    _git(project, "init", "-q")
    _git(project, "add", ".")
    _git(project, "commit", "-qm", "x")
    _git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(project)
    wanted = _usual(own_home, project)
    for place in (project, project / "a" / "b", tmp_path / "tree", tmp_path / "link"):
        assert find_memory_folder(str(place)).path == wanted


@pytest.mark.requirement("M1")
@pytest.mark.parametrize(
    ("file", "said", "chosen"),
    [
        ("user", "/elsewhere/notes/", "/elsewhere/notes"),
        ("project", "/elsewhere", ""),
        ("project", "PROJECT/../notes", ""),
        ("project", "PROJECT/notes", "PROJECT/notes"),
    ],
)
def test_a_settings_file_may_name_another(
    tmp_path: Path, own_home: Path, file: str, said: str, chosen: str
) -> None:
    place = own_home / ".claude" if file == "user" else tmp_path / ".claude"
    place.mkdir()
    said, chosen = (text.replace("PROJECT", str(tmp_path)) for text in (said, chosen))
    (place / "settings.json").write_text(json.dumps({"autoMemoryDirectory": said}))
    for project in (str(tmp_path), f"{tmp_path}/"):
        assert find_memory_folder(project).path == (chosen or _usual(own_home, tmp_path))


@pytest.mark.requirement("M1", "X7")
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_project_names_no_folder_through_a_link_and_it_is_reported(
    tmp_path: Path, own_home: Path, name: str
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "notes").symlink_to(own_home)
    said = json.dumps({"autoMemoryDirectory": f"{tmp_path}/notes/.ssh"})
    (tmp_path / ".claude" / name).write_text(said)
    found = find_memory_folder(str(tmp_path))
    assert found.path == _usual(own_home, tmp_path)
    assert not found.is_read
    assert "is ignored: it lies outside the project" in found.why


@pytest.mark.requirement("M1")
@pytest.mark.parametrize(
    ("settings", "variable", "is_read"),
    [
        ({}, "", True),
        ({}, "1", False),
        ({"autoMemoryEnabled": False}, "0", True),
        ({"env": {OFF: "1"}}, "", False),
    ],
)
def test_what_turns_it_off_is_known(
    tmp_path: Path, own_home: Path, settings: dict[str, object], variable: str, is_read: bool
) -> None:
    (own_home / ".claude").mkdir()
    (own_home / ".claude" / "settings.json").write_text(json.dumps(settings))
    environ = {"HOME": str(own_home)} | ({OFF: variable} if variable else {})
    assert find_memory_folder(str(tmp_path), environ).is_read is is_read

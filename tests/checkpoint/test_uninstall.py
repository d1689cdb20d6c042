"""`holdfast uninstall --checkpoints`: our folders in the projects go, and nothing else."""

import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.checkpoint.write import keep
from holdfast.cli.checkpoint import verify
from holdfast.cli.install import install, uninstall
from holdfast.setup.errors import InstallError
from holdfast.wire import places
from tests.checkpoint.documents import NOON, a_document, in_project

pytestmark = pytest.mark.requirement("U1")


def _leave(*words: str) -> Result:
    return CliRunner().invoke(uninstall, ["--checkpoints", *words])


def _project(tmp_path: Path, name: str) -> Path:
    project = tmp_path / name
    project.mkdir()
    keep(a_document(project, "a"))
    return project


def test_folders_are_listed_and_with_a_yes_removed(tmp_path: Path) -> None:
    one, two = _project(tmp_path, "one"), _project(tmp_path, "two")
    (two / ".claude" / "settings.json").write_text("{}")
    said = _leave()
    assert said.stdout.splitlines() == [
        f"would go {in_project(one)}: 1 checkpoint",
        f"would go {in_project(two)}: 1 checkpoint",
    ]
    assert in_project(one).exists()
    assert _leave("--yes", "--dry-run").stdout == said.stdout
    assert "removed" in _leave("--yes").stdout
    assert list(one.iterdir()) == []
    assert [path.name for path in (two / ".claude").iterdir()] == ["settings.json"]
    assert CliRunner().invoke(verify).exit_code == 0
    assert "No project has" in _leave().stderr


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_way_out_of_each_page_leaves_nothing(page: str, tmp_path: Path, own_home: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    [block] = re.findall(r"```sh\n(holdfast uninstall[^`]*rm -r [^`]*)```", text)
    before = sorted(own_home.rglob("*"))
    assert CliRunner().invoke(install, ["--yes"]).exit_code == 0
    project = _project(tmp_path, "one")
    for line in block.splitlines():
        command = line.partition("#")[0].split()
        if command[0] == "rm":
            shutil.rmtree(places.home())
        if command[:2] == ["holdfast", "uninstall"]:
            assert CliRunner().invoke(uninstall, command[2:], input="y\n").exit_code == 0
    assert sorted(own_home.rglob("*")) == before
    assert list(project.iterdir()) == []


def test_what_is_yours_stays_with_its_gitignore_and_our_other_checkpoints_go(
    tmp_path: Path,
) -> None:
    mine, edited = _project(tmp_path, "mine"), _project(tmp_path, "edited")
    (in_project(mine) / "notes.md").write_text("mine")
    [path] = in_project(edited).glob("*.md")
    keep(a_document(edited, "b", created=NOON + timedelta(hours=1)))
    path.write_bytes(path.read_bytes() + b"\n## Mine\n- y\n")
    assert _leave().exit_code == 0, "nothing was asked for yet"
    done = _leave("--yes")
    assert isinstance(done.exception, InstallError)
    assert done.exception.exit_code == 5, "`&& rm -r` must not run after it"
    for folder in (mine, edited):
        assert str(in_project(folder)) in str(done.exception)
    assert done.stdout.splitlines() == [
        f"removed  {in_project(edited)}: 1 checkpoint",
        f"stays    {in_project(edited)}: {path.name} was changed after it was saved",
        f"removed  {in_project(mine)}: 1 checkpoint",
        f"stays    {in_project(mine)}: notes.md is not a file of Holdfast",
    ]
    for folder, name in ((mine, "notes.md"), (edited, path.name)):
        assert sorted(one.name for one in in_project(folder).iterdir()) == [".gitignore", name]


def test_a_folder_that_leads_out_of_its_project_is_not_followed(tmp_path: Path) -> None:
    project, other = _project(tmp_path, "one"), _project(tmp_path, "other")
    for path in in_project(project).iterdir():
        path.unlink()
    in_project(project).rmdir()
    in_project(project).symlink_to(in_project(other))
    assert str(in_project(project)) not in _leave("--yes").stdout
    assert in_project(project).is_symlink()

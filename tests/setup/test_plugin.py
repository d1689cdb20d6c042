"""The plugin folder: complete, ours alone, approved by the real client, and gone again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import holdfast
from holdfast.files.executable import console_command
from holdfast.setup import wiring
from holdfast.setup.errors import AlreadyInstalledElsewhere, NotAPluginFolder
from holdfast.setup.install import (
    InstallPlan,
    apply,
    installed_commands,
    plan_install,
    plan_uninstall,
)
from holdfast.setup.targets import SKILLS, plugin_target, read_packaged
from tests.trial.namespace import NamespaceImpossible, unshare_command

from .machine import Desk, all_hooks

pytestmark = pytest.mark.requirement("U1")

REPO = Path(__file__).resolve().parents[2]
CLIENTS = "*/node_modules/@anthropic-ai/claude-code-*/claude"


def write(desk: Desk, folder: Path) -> InstallPlan:
    plan = plan_install(plugin_target(folder), desk.home, desk.ours)
    apply(plan)
    return plan


def remove(desk: Desk, folder: Path) -> InstallPlan:
    plan = plan_uninstall(plugin_target(folder), desk.home, desk.ours)
    apply(plan)
    return plan


@pytest.fixture
def folder(desk: Desk) -> Path:
    made = desk.home / "plugins of mine" / "holdfast"
    write(desk, made)
    return made


def test_it_holds_the_hooks_and_states_who_it_is(folder: Path) -> None:
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_bytes())
    stated = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    assert (manifest["name"], manifest["version"]) == ("holdfast", holdfast.__version__)
    assert manifest["license"] == stated["license"]
    assert manifest["description"] == stated["description"]
    hooks = json.loads((folder / "hooks" / "hooks.json").read_bytes())
    assert hooks == {"hooks": wiring.hook_table()}
    assert installed_commands(folder / "hooks" / "hooks.json") == all_hooks()


def test_what_it_says_is_filled_in(folder: Path) -> None:
    skill = (folder / "skills" / "status" / "SKILL.md").read_text()
    readme = (folder / "README.md").read_text()
    assert f"allowed-tools: Bash({console_command()} status:*)" in skill
    assert f"claude --plugin-dir '{folder}'" in readme
    assert wiring.status_command() in readme
    assert "{command}" not in skill
    assert "{folder}" not in readme


def test_its_licence_is_the_projects() -> None:
    assert read_packaged("LICENSE") == (REPO / "LICENSE").read_text()


def test_writing_it_again_changes_nothing_and_removing_it_leaves_nothing(
    desk: Desk, folder: Path
) -> None:
    assert write(desk, folder).is_nothing
    remove(desk, folder)
    assert desk.tree() == {}


def test_a_changed_python_is_written_over_with_and_without_a_receipt(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/other/bin/python3")
    assert len(write(desk, folder).shown) == len(SKILLS) + 3  # hooks, server, README
    monkeypatch.setattr(sys, "executable", "/opt/third/bin/python3")
    monkeypatch.setenv("HOLDFAST_HOME", str(desk.home / "lost"))
    again = plan_install(plugin_target(folder), desk.home, desk.home / "lost")
    assert len(again.shown) == len(SKILLS) + 3


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True])
def test_a_plugin_that_the_first_release_wrote_is_renewed_and_removed(
    desk: Desk, lost: bool
) -> None:
    """0.1.0 wrote the same lines without a guard."""
    made = desk.home / "plugin"
    apply(plan_install(plugin_target(made, archive_chars=9_000), desk.home, desk.ours))
    new = {path: path.read_text() for path in (made / "hooks" / "hooks.json", made / "README.md")}
    for path, text in new.items():
        path.write_text(text.replace(" || :", ""))
    if lost:
        shutil.rmtree(desk.ours)
    assert {change.path for change in write(desk, made).shown} == set(new)
    assert {path: path.read_text() for path in new} == new
    for path, text in new.items():
        path.write_text(text.replace(" || :", ""))
    remove(desk, made)
    assert desk.tree() == {}


def test_without_a_receipt_it_is_removed_with_all_its_folders(desk: Desk, folder: Path) -> None:
    shutil.rmtree(desk.ours)
    remove(desk, folder)
    assert not folder.exists()


def test_a_file_the_user_changed_stays(desk: Desk, folder: Path) -> None:
    (folder / "README.md").write_text("my notes")
    plan = remove(desk, folder)
    assert [path.name for path in folder.iterdir()] == ["README.md"]
    assert any("README.md" in note for note in plan.notes)


def test_a_folder_with_something_else_in_it_is_refused(desk: Desk) -> None:
    (desk.project / "work.txt").write_text("mine")
    for place in (desk.project, desk.project / "work.txt"):
        with pytest.raises(NotAPluginFolder):
            write(desk, place)


def test_beside_an_install_in_settings_it_is_refused(desk: Desk) -> None:
    desk.install()
    with pytest.raises(AlreadyInstalledElsewhere):
        write(desk, desk.home / "plugin")
    assert not (desk.home / "plugin").exists()


@pytest.mark.nightly
@pytest.mark.real_client
def test_the_real_client_finds_it_valid_and_installs_it(desk: Desk, folder: Path) -> None:
    validated = run_client(desk, "plugin", "validate", str(folder))
    assert "Validation passed" in validated
    assert "refuses" not in validated
    run_client(desk, "plugin", "marketplace", "add", str(folder))
    run_client(desk, "plugin", "install", "holdfast@holdfast")
    with pytest.raises(AlreadyInstalledElsewhere):
        desk.install()
    assert write(desk, folder).is_nothing


@pytest.mark.nightly
@pytest.mark.real_client
def test_the_real_client_accepts_the_settings_we_write(desk: Desk) -> None:
    desk.write(b'{"enabledPlugins": {"a@b": false}}')
    desk.install()
    assert "nvalid" not in run_client(desk, "plugin", "list")


def run_client(desk: Desk, *words: str) -> str:
    """What the real client says, in a namespace without a network and a home of its own."""
    binary = max((REPO / ".cache" / "client").glob(CLIENTS), default=None)
    if binary is None:
        pytest.skip("*** THE REAL CLIENT IS NOT HERE: `make client` fetches it ***")
    try:
        confined = unshare_command()
    except NamespaceImpossible as reason:
        pytest.skip(f"*** THE REAL CLIENT IS NOT RUN, NO NETWORK NAMESPACE HERE: {reason} ***")
    quiet = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX")
    env = {"PATH": os.defpath, "HOME": str(desk.home), "TERM": "dumb"} | dict.fromkeys(quiet, "1")
    env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    run = subprocess.run(
        [*confined, str(binary), *words],
        env=env,
        cwd=desk.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr

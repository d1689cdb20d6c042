"""`holdfast install` and `uninstall` through their public door."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.install import install, uninstall
from holdfast.client.install import wiring
from holdfast.client.install.errors import SettingsBroken
from holdfast.client.install.plan import installed_commands

from .desk import Desk
from .settings_samples import SAMPLES

pytestmark = pytest.mark.requirement("U1")


def call(line: str, answer: str = "") -> Result:
    verb, *words = shlex.split(line)
    command = {"install": install, "uninstall": uninstall}[verb]
    return CliRunner().invoke(command, words, input=answer)


def test_it_shows_a_diff_asks_and_says_how_to_undo(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    said = call("install", "y\n")
    assert said.exit_code == 0
    assert f"--- {desk.settings}" in said.stdout
    assert '+    "PreCompact": [' in said.stdout
    assert "Make these changes?" in said.stderr
    assert "Undo: holdfast uninstall\n" in said.stdout
    assert f"wrote {desk.settings}" in said.stdout
    assert installed_commands(desk.settings)
    [backup] = desk.ours.rglob("*.bak")
    assert str(backup) in said.stdout


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_a_no_changes_nothing(desk: Desk, answer: str) -> None:
    desk.write(SAMPLES["hooked"])
    before = desk.tree()
    assert call("install", answer).exit_code == 1
    assert desk.tree() == before


def test_a_dry_run_changes_nothing_and_makes_no_folder(desk: Desk) -> None:
    said = call("install --dry-run --yes")
    assert said.exit_code == 0
    assert "+++" in said.stdout
    assert "nothing was changed" in said.stdout
    assert desk.tree() == {}
    assert not desk.ours.exists()


def test_yes_asks_nothing_and_twice_is_once(desk: Desk) -> None:
    desk.write(SAMPLES["hooked, minified"])
    assert call("install --yes").exit_code == 0
    again = call("install --yes")
    assert "nothing to change" in again.stdout
    assert call("uninstall --yes").exit_code == 0
    assert desk.settings.read_bytes() == SAMPLES["hooked, minified"]


def test_leaving_where_we_are_not_says_where_we_are(desk: Desk) -> None:
    call("install --yes --scope local")
    said = call("uninstall --yes")
    assert said.exit_code == 0
    assert "Not installed" in said.stdout
    assert "settings.local.json" in said.stderr
    said = call("uninstall --yes --scope local")
    assert f"Undo: holdfast install --scope local --project '{desk.project}'" in said.stdout
    assert desk.tree() == {}


def test_a_project_is_named_by_its_folder(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    said = call("install --yes --scope project --project ../other")
    assert installed_commands(tmp_path / "other" / ".claude" / "settings.json")
    assert "use --scope local" in said.stderr


def test_a_plugin_folder_comes_and_goes(desk: Desk) -> None:
    assert "uninstall --plugin" in call("install --yes --plugin ./plug").stdout
    assert (desk.project / "plug" / "hooks" / "hooks.json").exists()
    assert call("uninstall --yes --plugin plug").exit_code == 0
    assert desk.tree() == {}


def test_a_text_of_one_long_line_is_shown_so_that_it_can_be_read(desk: Desk) -> None:
    desk.write(SAMPLES["hooked, minified"])
    said = call("install --dry-run")
    assert max(map(len, said.stdout.splitlines())) < 250
    assert "indented here" in said.stdout


def test_errors_are_of_our_tree_with_a_hint_and_an_exit_code(desk: Desk) -> None:
    desk.write(b'{"a": }')
    slip = call("install --yes").exception
    assert isinstance(slip, SettingsBroken)
    assert "line 1, column 7" in str(slip)
    assert slip.hint
    assert slip.exit_code == 5


def test_many_installs_at_once_are_one(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    line = [sys.executable, "-c", "from holdfast.cli.install import install; install(['--yes'])"]
    runs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [run.communicate(timeout=60)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert sum("Installed." in text for text in said) == 1
    assert len(installed_commands(desk.settings)) == len(wiring.TIMEOUTS)


@pytest.mark.requirement("X3")
def test_the_installed_command_is_one_the_shell_can_run(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A python in a folder with blanks and quotes in its name, run as the client runs it."""
    odd = tmp_path / "it's a folder"
    odd.mkdir()
    (odd / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(odd / "python"))
    call("install --yes")
    event, command = installed_commands(desk.settings)[0]
    payload = json.dumps({"hook_event_name": event, "session_id": "s"})
    run = subprocess.run(command, shell=True, input=payload, text=True, capture_output=True)
    assert run.returncode == 0
    assert shlex.split(command)[0] == str(odd / "python")

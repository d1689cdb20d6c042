"""`holdfast install` and `uninstall` through their public door."""

import contextlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from holdfast.cli.install import install, uninstall
from holdfast.files.executable import typed_command
from holdfast.settings import load as settings_load
from holdfast.setup.errors import InstallError
from holdfast.setup.settings_text import installed_commands
from holdfast.wire.errors import HoldfastError

from .machine import Desk, all_hooks
from .settings_samples import SAMPLES

pytestmark = pytest.mark.requirement("U1")


def call(line: str, answer: str = "") -> Result:
    verb, *words = shlex.split(line)
    command = {"install": install, "uninstall": uninstall}[verb]
    return CliRunner().invoke(command, words, input=answer)


def test_it_shows_a_diff_if_asked_and_says_how_to_undo(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    said = call("install", "d\ny\n")
    assert said.exit_code == 0
    assert said.stderr.count("Make these changes? (d shows every line) [y/N/d]") == 2
    first, _, shown = said.stdout.partition(f"--- {desk.settings}")
    assert re.search("hooks at .*PreCompact", first) and '+    "PreCompact": [' in shown
    assert re.search(rf"{desk.settings}: \+\d+ -\d+ lines", first)
    assert len(first.splitlines()) < 20
    assert f"Undo: {typed_command()} uninstall\n" in said.stdout
    assert f"wrote {desk.settings}" not in said.stdout  # named once, with its size
    assert installed_commands(desk.settings)
    [backup] = desk.ours.rglob("*.bak")
    assert f"saved {desk.settings} as it was: {backup}" in said.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "hint"), [("n\n", False), ("", True)])
def test_a_no_changes_nothing_and_says_so(desk: Desk, answer: str, hint: bool) -> None:
    desk.write(SAMPLES["hooked"])
    before = desk.tree()
    said = call("install", answer)
    assert said.exit_code == 1
    assert "Nothing was changed." in said.stderr
    assert ("--yes" in said.stderr) == hint, "without a terminal there is another way"
    assert desk.tree() == before
    assert not desk.ours.exists()
    call("install --yes")
    assert call("uninstall", answer).exit_code == 1
    assert installed_commands(desk.settings)


def _on_a_terminal(typed: bytes, *words: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "holdfast.cli", *words]
    environ = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as run:
        os.close(theirs)
        os.write(ours, typed)
        shown = b""
        with contextlib.suppress(OSError):  # all is read, and nobody writes any more
            while data := os.read(ours, 65_536):
                shown += data
        os.close(ours)
    return run.returncode, shown.decode().replace("\r\n", "\n")


@pytest.mark.slow  # three commands, each on a terminal of its own
@pytest.mark.requirement("R9")
def test_on_a_terminal_it_asks_once_whether_to_archive_transcripts(desk: Desk) -> None:
    code, said = _on_a_terminal(b"y\nn\n", "install")
    assert code == 0 and "Save compressed copies" in said
    assert "30 days after its last use (cleanupPeriodDays is not set)" in said
    assert settings_load.load().word("archive_transcripts") == "off"
    assert not (desk.ours / "transcripts").exists()
    code, said = _on_a_terminal(b"", "install")
    assert code == 0 and "Save compressed copies" not in said, "no is an answer"
    settings_load.user_file().unlink()
    code, said = _on_a_terminal(b"y\n", "install")
    assert code == 0 and "Save compressed copies" in said
    assert settings_load.load().word("archive_transcripts") == "on"


def test_what_changed_while_we_asked_is_not_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(*_: object, **__: object) -> str:
        desk.write(b'{"theirs": 1}')
        return "y"

    monkeypatch.setattr(click, "prompt", answered)
    assert "changed by someone else" in str(call("install").exception)
    assert desk.settings.read_bytes() == b'{"theirs": 1}'


@pytest.mark.parametrize("below", ["", "/ours"])
def test_a_home_that_is_a_file_is_refused_in_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    file = desk.project / "file"
    file.write_text("x")
    monkeypatch.setenv("HOLDFAST_HOME", f"{file}{below}")
    for line in ("install --yes", "uninstall --yes", "install --dry-run"):
        error = call(line).exception
        assert isinstance(error, InstallError)
        assert "is not a folder" in str(error)


def test_a_dry_run_changes_nothing_and_makes_no_folder(desk: Desk) -> None:
    said = call("install --dry-run --yes")
    assert said.exit_code == 0
    assert "+++" in said.stdout
    assert "nothing was changed" in said.stdout
    assert desk.tree() == {}
    assert not desk.ours.exists()


def test_leaving_says_what_stays_and_where(desk: Desk) -> None:
    call("install --yes")
    said = call("uninstall --yes").stdout
    assert f"  {desk.ours}: settings, log, database" in said
    assert f"  Remove all of it: rm -r {desk.ours}\n" in said
    assert "uninstall it the way you installed it" in said


def test_leaving_where_we_are_not_says_where_we_are(desk: Desk) -> None:
    call("install --yes --scope local")
    said = call("uninstall --yes")
    assert said.exit_code == 0
    assert "Not installed" in said.stdout
    assert "settings.local.json" in said.stderr
    said = call("uninstall --yes --scope local")
    where = f"--scope local --project '{desk.project}'"
    assert f"Undo: {typed_command()} install {where}" in said.stdout
    assert desk.tree() == {}


def test_what_could_not_be_left_is_named_with_its_own_exit_code(desk: Desk) -> None:
    call("install --yes")
    state = desk.home / ".claude.json"
    whole = state.read_bytes()
    state.write_bytes(whole[:-3])
    tried = call("uninstall --dry-run")
    assert (tried.exit_code, str(state) in tried.stderr) == (0, True)
    said = call("uninstall --yes")
    assert isinstance(said.exception, InstallError)
    assert said.exception.exit_code == 5
    assert str(state) in str(said.exception)
    assert "Uninstalled, except for what is named below." in said.stdout
    again = call("uninstall --yes")
    assert str(state) in str(again.exception)
    assert "Not installed" not in again.stdout
    state.write_bytes(whole)
    assert call("uninstall --yes").exit_code == 0
    assert b"holdfast" not in (state.read_bytes() if state.exists() else b"")


@pytest.mark.parametrize("text", [SAMPLES["hooked, minified"], b'{"model": "opus"}\n'])
def test_the_status_line_alone_comes_and_goes_beside_a_plugin(desk: Desk, text: bytes) -> None:
    desk.write(text)
    before = desk.tree()
    call("install --yes --status-line")
    settings = json.loads(desk.settings.read_bytes())
    assert "statusline" in settings.pop("statusLine")["command"]
    assert settings.keys() == json.loads(text).keys() - {"statusLine"}
    assert installed_commands(desk.settings) == []
    assert set(desk.tree()) == set(before)
    said = call("uninstall --yes")
    assert f"Undo: {typed_command()} install --status-line\n" in said.stdout
    assert desk.tree() == before


def test_an_uninstall_for_a_project_takes_nothing_from_another_scope(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("install --yes --scope project")
    theirs = desk.tree()
    said = call("uninstall --yes --scope local")
    assert "Not installed in" in said.stdout and "project scope" in said.stderr
    assert desk.tree() == theirs
    call("uninstall --yes --scope project")
    call("install --yes")
    own = desk.tree()
    monkeypatch.chdir(desk.home)
    for scope in ("project", "local"):
        error = call(f"uninstall --yes --scope {scope}").exception
        assert isinstance(error, HoldfastError) and "leave --scope out" in error.hint
    assert desk.tree() == own


@pytest.mark.slow  # four whole commands
def test_many_installs_at_once_are_one(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    line = [sys.executable, "-c", "from holdfast.cli.install import install; install(['--yes'])"]
    runs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [run.communicate(timeout=60)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert sum("Installed." in text for text in said) == 1
    assert sorted(installed_commands(desk.settings)) == sorted(all_hooks())


@pytest.mark.slow
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

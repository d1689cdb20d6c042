"""Whatever becomes of our files or of the interpreter, no installed command blocks a session."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import holdfast
from holdfast.client import sample_payloads
from holdfast.setup import wiring

from .machine import Desk

pytestmark = pytest.mark.requirement("X1")

THEIRS = 'echo "it\'s mine"; head -c 9'
Breakage = Callable[[wiring.Program], None]


def _package_removed(program: wiring.Program) -> None:
    shutil.rmtree(program.package)


def _entry_removed(program: wiring.Program) -> None:
    Path(program.words[-1]).unlink()


def _other_modules_removed(program: wiring.Program) -> None:
    shutil.rmtree(Path(program.package, "wire"))


def _entry_half_written(program: wiring.Program) -> None:
    script = Path(program.words[-1])
    script.write_text(script.read_text()[:-8])


def _module_half_written(program: wiring.Program) -> None:
    Path(program.package, "hook", "entry.py").write_text("def main(:")


def _module_of_another_release(program: wiring.Program) -> None:
    Path(program.package, "hook", "entry.py").write_text("import sys\nsys.exit(2)\n")


def _interpreter_removed(program: wiring.Program) -> None:
    Path(program.python).unlink()


def _interpreter_not_runnable(program: wiring.Program) -> None:
    python = Path(program.python)
    python.unlink()
    python.write_text("half a file")


def _folder_moved(program: wiring.Program) -> None:
    Path(program.package).parents[1].rename(Path(program.package).parents[2] / "moved")


BREAKAGES = (
    _package_removed,
    _entry_removed,
    _other_modules_removed,
    _entry_half_written,
    _module_half_written,
    _module_of_another_release,
    _interpreter_removed,
    _interpreter_not_runnable,
    _folder_moved,
)


@pytest.fixture
def program(tmp_path: Path) -> wiring.Program:
    """A Holdfast of its own, in a folder whose name a shell could misread."""
    folder = tmp_path / "it's $HOME; a folder"
    package = folder / "lib" / "holdfast"
    shutil.copytree(Path(holdfast.__file__).parent / "hook", package / "hook")
    shutil.copytree(Path(holdfast.__file__).parent / "wire", package / "wire")
    (package / "__init__.py").touch()
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return wiring.Program(str(folder / "bin" / "python"), str(package))


def _run(command: str, data: bytes, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "ours")}
    line = ["/bin/sh", "-c", command]
    return subprocess.run(line, input=data, capture_output=True, env=environ, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("break_it", BREAKAGES)
def test_no_installed_hook_ends_in_anything_but_silence_and_exit_0(
    program: wiring.Program, tmp_path: Path, break_it: Breakage
) -> None:
    table = wiring.hook_table(8_000, program)
    break_it(program)
    hooks = [(event, hook) for event in table for group in table[event] for hook in group["hooks"]]
    assert len(hooks) == len(wiring.TIMEOUTS) + 2
    said = {}
    for event, command in {(event, hook["command"]) for event, hook in hooks}:
        sent = sample_payloads.make_payload(event, session_id="s", transcript="", cwd="/p")
        run = _run(command, json.dumps(sent).encode(), tmp_path)
        said[event, command] = (run.returncode, run.stdout)
    assert set(said.values()) == {(0, b"")}


@pytest.mark.slow
@pytest.mark.requirement("U4")
@pytest.mark.parametrize("break_it", BREAKAGES)
def test_a_status_line_that_cannot_run_shows_nothing_or_the_users_own(
    program: wiring.Program, tmp_path: Path, break_it: Breakage
) -> None:
    break_it(program)
    alone = _run(wiring.status_command(None, program), b'{"a": 1}', tmp_path)
    assert (alone.returncode, alone.stdout) == (0, b"")
    wrapping = _run(wiring.status_command(THEIRS, program), b'{"a": 1}', tmp_path)
    assert (wrapping.returncode, wrapping.stdout) == (0, b"it's mine\n" + b'{"a": 1}')


def test_every_line_that_install_writes_is_guarded(desk: Desk) -> None:
    """None of our entry points stands in a line without `|| :`."""
    line = {"statusLine": {"type": "command", "command": THEIRS}}
    desk.write(json.dumps(line, indent=2).encode())
    desk.install()
    lines = [line for line in desk.settings.read_text().splitlines() if wiring.ENTRY in line]
    assert len(lines) == len(wiring.TIMEOUTS) + 2
    assert all(" || :" in line or " || eval " in line for line in lines)

"""Which lines are ours: those of this Holdfast and those our receipts name, and no others."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.setup import wiring
from holdfast.setup.errors import InstallError
from holdfast.setup.receipts import sha256
from holdfast.setup.settings_text import installed_commands

from .machine import Desk

pytestmark = pytest.mark.requirement("U1")

GONE = wiring.Program("/home/other/venv/bin/python", "/home/other/venv/lib/holdfast")


def _another(folder: Path) -> wiring.Program:
    """A Holdfast that is there, as far as anyone can see from its paths."""
    program = wiring.Program(str(folder / "bin" / "python"), str(folder / "lib" / "holdfast"))
    for file in (program.python, program.words[-1], str(folder / "bin" / "holdfast")):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    return program


def _become(monkeypatch: pytest.MonkeyPatch, program: wiring.Program) -> None:
    monkeypatch.setattr(sys, "executable", program.python)
    monkeypatch.setattr(holdfast, "__file__", f"{program.package}/__init__.py")


def _theirs(desk: Desk, program: wiring.Program) -> None:
    """All that another Holdfast writes for the user, but for its slash commands."""
    line = {"type": "command", "command": wiring.status_command("mine.sh", program)}
    settings = {"hooks": wiring.hook_table(9_000, program), "statusLine": line}
    desk.write(json.dumps(settings, indent=2).encode())
    server = {"mcpServers": {"holdfast": wiring.server_entry(program)}}
    (desk.home / ".claude.json").write_text(json.dumps(server))


def _packages(desk: Desk) -> set[str]:
    found = (wiring.read_command(line) for _, line in installed_commands(desk.settings))
    return {one.program.package for one in found if one is not None}


def test_another_holdfast_s_lines_stay_to_the_byte(desk: Desk) -> None:
    _theirs(desk, GONE)
    before = desk.tree()
    plan = desk.install()
    assert _packages(desk) == {GONE.package, wiring.this_program().package}
    assert wiring.archive_chars(installed_commands(desk.settings, desk.target().packages)) == 0
    said = f"hooks of another Holdfast, whose {GONE.python} is gone"
    assert any(said in note and "by hand" in note for note in plan.notes)
    assert any("another MCP server named holdfast" in note for note in plan.notes)
    desk.uninstall()
    assert desk.tree() == before


@pytest.mark.slow
def test_beside_another_holdfast_that_works_we_install_only_if_forced(
    desk: Desk, tmp_path: Path
) -> None:
    other = _another(tmp_path / "other")
    _theirs(desk, other)
    before = desk.tree()
    with pytest.raises(InstallError, match="another Holdfast") as caught:
        desk.install()
    assert "--force" in caught.value.hint
    desk.install(force=True)
    desk.uninstall()
    assert desk.tree() == before


@pytest.mark.slow
@pytest.mark.parametrize("receipt_of", ["this release", "0.1.0"])
@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("lives", [False, True])
def test_lines_of_a_holdfast_that_our_receipt_knows_are_replaced_and_removed(
    desk: Desk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    receipt_of: str,
    edited: bool,
    lives: bool,
) -> None:
    """The same user has moved the virtual environment, or made another one."""
    desk.write(b'{\n  "statusLine": {"type": "command", "command": "mine.sh"}\n}\n')
    before = desk.tree()
    old = _another(tmp_path / "old") if lives else GONE
    with monkeypatch.context() as patch:
        _become(patch, old)
        desk.install()
    if receipt_of == "0.1.0":
        _as_in_0_1_0(desk)
    if edited:
        desk.settings.write_text(desk.settings.read_text().replace("{", '{ "model": "opus",', 1))
    desk.install()
    assert _packages(desk) == {wiring.this_program().package}
    assert old.package not in (desk.home / ".claude.json").read_text()
    assert old.python not in desk.settings.read_text() + desk.skill.read_text()
    desk.uninstall()
    text = desk.settings.read_text()
    assert json.loads(text)["statusLine"] == {"type": "command", "command": "mine.sh"}
    if edited:
        desk.settings.write_text(text.replace(' "model": "opus",', "", 1))
    assert desk.tree() == before


def _as_in_0_1_0(desk: Desk) -> None:
    """Settings, and the receipt for them, as the first release wrote them."""
    text = desk.settings.read_text().replace(" || :", "")
    held = json.loads(text)
    line: dict[str, Any] = held.get("statusLine", {})
    theirs = wiring.wrapped_in(line.get("command"))
    if theirs is not None:
        plain = held["hooks"]["Stop"][0]["hooks"][0]["command"]
        old = f"{plain} statusline --wraps {theirs}"
        text = text.replace(json.dumps(line["command"]), json.dumps(old))
        assert wiring.wrapped_in(old) == theirs
    desk.settings.write_text(text)
    [path] = (desk.ours / "installs").glob("*.json")
    receipt = json.loads(path.read_text())
    assert receipt["version"] == 1
    del receipt["packages"]
    [record] = [one for one in receipt["files"] if one["path"] == str(desk.settings)]
    record["left_sha256"] = sha256(text.encode())
    path.write_text(json.dumps(receipt))

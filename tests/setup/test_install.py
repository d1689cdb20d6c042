"""Install and leave: merged, backed up, idempotent, and gone to the byte."""

import json
import shutil
import sys
from typing import Any

import pytest

from holdfast.files.executable import console_command
from holdfast.setup import wiring
from holdfast.setup.install import apply, plan_install
from holdfast.setup.settings_text import installed_commands
from holdfast.setup.targets import SKILLS

from .machine import Desk, all_hooks
from .settings_samples import HOOKED, SAMPLES, telling_first

pytestmark = pytest.mark.requirement("U1")

each_sample = pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES.keys())


def parsed(data: bytes) -> dict[str, Any]:
    text = data.decode("utf-8-sig").strip() or "{}"
    settings: dict[str, Any] = json.loads(text, parse_int=str)
    return settings


@pytest.mark.slow
@each_sample
def test_install_then_uninstall_is_byte_identical(desk: Desk, data: bytes) -> None:
    desk.write(data)
    before = desk.tree()
    desk.install()
    assert desk.settings.read_bytes() != data
    desk.uninstall()
    assert desk.tree() == before


@pytest.mark.slow
@telling_first
def test_all_that_was_there_is_there_after_install_and_ours_with_it(
    desk: Desk, data: bytes
) -> None:
    desk.write(data)
    desk.install()
    before, after = parsed(data), parsed(desk.settings.read_bytes())
    for event, groups in before.pop("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    before.pop("statusLine", None)
    assert before.items() <= after.items()
    assert sorted(installed_commands(desk.settings)) == sorted(all_hooks())
    line = parsed(data).get("statusLine")
    theirs = line.get("command") if isinstance(line, dict) else None
    assert after["statusLine"]["command"] == wiring.status_command(theirs)


@pytest.mark.slow
@telling_first
def test_without_a_receipt_leaving_still_gives_the_same_settings(desk: Desk, data: bytes) -> None:
    desk.write(data)
    desk.install()
    shutil.rmtree(desk.ours)
    desk.uninstall()
    before, after = parsed(data), parsed(desk.settings.read_bytes())
    if "command" not in (before.get("statusLine") or {}):
        before.pop("statusLine", None)
    kept = {event: groups for event, groups in before.pop("hooks", {}).items() if groups}
    assert after == ({**before, "hooks": kept} if kept else before)
    assert not desk.skill.parent.parent.exists(), "an empty folder for commands is ours too"


def test_a_changed_python_replaces_our_entries(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(SAMPLES["hooked"])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/opt/old pythons/bin/python3")
        desk.install()
        old = all_hooks()
    desk.install()
    assert sorted(installed_commands(desk.settings)) == sorted(all_hooks()) != sorted(old)
    assert b"old pythons" not in desk.settings.read_bytes() + desk.skill.read_bytes()
    desk.uninstall()
    assert desk.settings.read_bytes() == SAMPLES["hooked"]


def test_settings_written_anew_by_the_client_are_left_as_it_wrote_them(desk: Desk) -> None:
    """Seen: the client writes its settings anew, with two blanks and other keys moved."""
    desk.write(SAMPLES["hooked, minified"])
    desk.install()
    held = json.loads(desk.settings.read_bytes())
    desk.settings.write_text(json.dumps({"theme": "dark", **held}, indent=2))
    desk.uninstall()
    assert desk.settings.read_text() == json.dumps({"theme": "dark", **HOOKED}, indent=2)


def test_hooks_of_others_in_our_own_group_stay(desk: Desk) -> None:
    desk.install()
    settings = json.loads(desk.settings.read_bytes())
    settings["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "theirs"})
    desk.settings.write_text(json.dumps(settings, indent=2))
    desk.uninstall()
    theirs = {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}
    assert json.loads(desk.settings.read_bytes()) == {"hooks": theirs}


def test_a_command_built_around_ours_is_theirs_and_is_said(desk: Desk) -> None:
    desk.install()
    text = desk.settings.read_text().replace(
        wiring.hook_command(), "nice " + wiring.hook_command(), 1
    )
    desk.settings.write_text(text)
    plan = desk.uninstall()
    assert list(json.loads(desk.settings.read_bytes())["hooks"]) == ["SessionStart"]
    assert any("still names" in note for note in plan.notes)


def test_a_foreign_command_file_is_left_alone_and_said(desk: Desk) -> None:
    desk.skill.parent.mkdir(parents=True)
    desk.skill.write_text("my own status")
    before = desk.tree()
    plan = desk.install()
    assert any(str(desk.skill) in note for note in plan.notes)
    assert desk.skill.read_text() == "my own status"
    desk.uninstall()
    assert desk.tree() == before


def test_mode_bits_survive_and_what_we_keep_is_owner_only(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    desk.settings.chmod(0o640)
    desk.install()
    assert desk.settings.stat().st_mode & 0o777 == 0o640
    assert desk.ours.stat().st_mode & 0o777 == 0o700
    for path in desk.ours.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert any(path.read_bytes() == SAMPLES["hooked"] for path in desk.ours.rglob("*.bak"))
    desk.uninstall()
    assert desk.settings.stat().st_mode & 0o777 == 0o640
    assert not list(desk.ours.rglob("*.bak"))


@pytest.mark.parametrize(
    ("scope", "name"), [("project", "settings.json"), ("local", "settings.local.json")]
)
def test_a_project_has_its_own_scopes(desk: Desk, scope: str, name: str) -> None:
    desk.write(SAMPLES["plugged, as the client writes it"])
    before = desk.tree()
    desk.install(scope)
    folder = desk.project / ".claude"
    assert installed_commands(folder / name)
    assert (folder / "commands" / "holdfast" / "status.md").exists()
    assert desk.settings.read_bytes() == SAMPLES["plugged, as the client writes it"]
    desk.uninstall(scope)
    assert desk.tree() == before


def test_a_claude_folder_elsewhere_is_respected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.home / "cc"))
    desk.install()
    assert installed_commands(desk.home / "cc" / "settings.json")
    assert not desk.settings.exists()


@pytest.mark.requirement("U7")
def test_the_skills_name_the_commands_they_run(desk: Desk) -> None:
    desk.write(b"{}")
    apply(plan_install(desk.target(), desk.home, desk.ours))
    for name in SKILLS:
        text = (desk.skill.parent / f"{name}.md").read_text()
        assert text.startswith("---\ndescription: ")
        command = {"compress": "segments"}.get(name, name)
        assert f"{console_command()} {command}" in text

"""What cannot be done is refused in words, and everything stays as it was."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.setup import changes
from holdfast.setup.changes import MOST_BYTES, InstallChange
from holdfast.setup.errors import (
    CannotWrite,
    InstallError,
    SettingsBroken,
    SettingsIsALink,
    SettingsReadOnly,
)
from holdfast.setup.install import apply, plan_install

from .machine import Desk
from .settings_samples import SAMPLES

pytestmark = pytest.mark.requirement("U1")

SPARE_COMMA_AT = "line 2, column 9" if sys.version_info >= (3, 13) else "line 3, column 1"
BROKEN = {
    "a comma too many": (b'{\n  "a": 1,\n}\n', SPARE_COMMA_AT),
    "a comma too few": (b'{\n  "a": 1\n  "b": 2\n}\n', "line 3, column 3"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8 at byte 1"),
    "a list": (b"[]", "not an object"),
    "hooks a list": (b'{"hooks": []}', "`hooks` is not an object"),
    "an event an object": (b'{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
    "hooks twice": (b'{"hooks": {}, "hooks": {}}', "twice"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_settings_are_refused(desk: Desk, data: bytes, said: str) -> None:
    desk.write(data)
    before = desk.tree()
    with pytest.raises(SettingsBroken) as caught:
        desk.install()
    assert said in str(caught.value)
    assert str(desk.settings) in str(caught.value)
    assert caught.value.hint
    assert desk.tree() == before
    assert not desk.ours.exists()


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.json"))
    path.symlink_to(path.with_name("elsewhere.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [".claude.json", ".claude/settings.json"])
@pytest.mark.parametrize("break_it", [_torn, _read_only, _a_link])
def test_a_file_that_cannot_be_left_holds_up_no_other(
    desk: Desk, name: str, break_it: Callable[[Path], None]
) -> None:
    desk.write(b'{"model": "x"}')
    (desk.home / ".claude.json").write_bytes(b'{"theme": "dark"}')
    before = desk.tree()
    desk.install()
    path = desk.home / name
    whole = path.read_bytes()
    break_it(path)
    broken = path.read_bytes()
    plan = desk.uninstall()
    assert [name in error for error in plan.left] == [True]
    assert path.read_bytes() == broken
    other = {".claude.json", ".claude/settings.json"} - {name}
    for left in map(desk.home.joinpath, other):
        assert left.read_bytes() == before[str(left)]
    assert not desk.skill.exists()
    assert desk.uninstall().left == plan.left, "and again, for as long as it is so"
    path.unlink()
    path.with_name("elsewhere.json").unlink(missing_ok=True)
    path.write_bytes(whole)
    assert desk.uninstall().left == ()
    assert desk.tree() == before
    assert not list((desk.ours / "installs").glob("*.bak"))


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_refused_and_its_target_named(desk: Desk, there: bool) -> None:
    target = desk.home / "dotfiles.json"
    if there:
        target.write_bytes(b"{}")
    desk.settings.parent.mkdir()
    desk.settings.symlink_to(target)
    with pytest.raises(SettingsIsALink) as caught:
        desk.install()
    assert str(target) in str(caught.value)
    assert str(target) in caught.value.hint
    assert desk.settings.is_symlink()


def test_a_file_with_two_names_is_refused_until_it_is_a_file_of_its_own(desk: Desk) -> None:
    other = desk.home / "dotfiles.json"
    other.write_bytes(b"{}")
    desk.settings.parent.mkdir()
    desk.settings.hardlink_to(other)
    with pytest.raises(SettingsIsALink, match="one of 2 names") as caught:
        desk.install()
    assert desk.settings.samefile(other)
    advice = caught.value.hint.partition(": ")[2]
    subprocess.run(["/bin/sh", "-c", advice], check=True)
    desk.install()
    assert other.read_bytes() == b"{}"
    other.unlink()
    other.hardlink_to(desk.settings)
    assert [str(desk.settings) in error for error in desk.uninstall().left] == [True]
    assert desk.settings.samefile(other)


def test_a_read_only_file_is_refused_even_for_root(desk: Desk) -> None:
    desk.write(b"{}")
    desk.settings.chmod(0o444)
    with pytest.raises(SettingsReadOnly):
        desk.install()
    assert desk.settings.read_bytes() == b"{}"
    assert not desk.ours.exists()


def test_settings_that_change_between_reading_and_writing_are_not_written(desk: Desk) -> None:
    desk.write(SAMPLES["hooked"])
    plan = plan_install(desk.target(), desk.home, desk.ours)
    desk.write(b'{"theirs": 1}')
    with pytest.raises(InstallError, match="changed by someone else"):
        apply(plan)
    assert desk.settings.read_bytes() == b'{"theirs": 1}'
    assert not desk.skill.parent.exists()
    assert not list(desk.ours.rglob("*.json"))


@pytest.mark.slow
@pytest.mark.requirement("X6")
@pytest.mark.parametrize("failing", range(14))
def test_when_a_step_fails_the_steps_before_it_are_undone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Backup, receipt, settings, server, command files: a full disk at each, or its folder."""
    desk.write(SAMPLES["hooked"])
    before = desk.tree()
    plan = plan_install(desk.target(), desk.home, desk.ours)
    assert len(plan.changes) == 10
    real, calls = os.fsync, iter(range(99))

    def full_disk(descriptor: int) -> None:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(CannotWrite, match="No space left") as caught:
        apply(plan)
    assert str(plan.changes[failing // 2].path) in str(caught.value)
    assert desk.tree() == before
    assert not desk.ours.exists() or not list(desk.ours.rglob("*"))


@pytest.mark.requirement("X6")
def test_what_cannot_be_undone_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(SAMPLES["hooked"])
    plan = plan_install(desk.target(), desk.home, desk.ours)
    real = changes.put

    def stuck_disk(change: InstallChange) -> None:
        if change.path == desk.skill or change.after == SAMPLES["hooked"]:
            raise OSError(5, "Input/output error")
        real(change)

    monkeypatch.setattr(changes, "put", stuck_disk)
    with pytest.raises(InstallError, match=r"settings\.json") as caught:
        changes.apply([change for change in plan.changes if not change.private])
    assert "backups" in caught.value.hint


@pytest.mark.requirement("X6")
def test_an_interrupt_is_undone_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(SAMPLES["hooked"])
    before = desk.tree()
    plan = plan_install(desk.target(), desk.home, desk.ours)
    real = changes.put

    def interrupted(change: InstallChange) -> None:
        real(change)
        if change.path == desk.settings and change.before == SAMPLES["hooked"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(changes, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply(plan)
    assert desk.tree() == before


@pytest.mark.requirement("X6")
def test_a_damaged_backup_is_not_restored(desk: Desk) -> None:
    desk.write(SAMPLES["rich, two blanks"])
    desk.install()
    [backup] = desk.ours.rglob("*.bak")
    backup.write_bytes(b"{}")
    desk.uninstall()
    assert desk.settings.read_bytes() == SAMPLES["rich, two blanks"]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("user", "project"), ("local", "user")])
def test_a_second_place_is_refused(desk: Desk, first: str, second: str) -> None:
    desk.install(first)
    before = desk.tree()
    with pytest.raises(InstallError, match="already installed") as caught:
        desk.install(second)
    assert f"--scope {first}" in caught.value.hint
    assert desk.tree() == before
    assert not desk.install(second, force=True).is_nothing
    assert desk.install(second).is_nothing


ENDLESS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from pathlib import Path
from holdfast.setup.changes import bytes_of
from holdfast.setup.settings_text import settings_in
assert settings_in(Path(sys.argv[1])) == {}
try:
    bytes_of(Path(sys.argv[1]))
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "large", "folder"])
def test_a_settings_file_that_never_ends_is_refused_unread(tmp_path: Path, target: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    (tmp_path / "settings.json").symlink_to(tmp_path / target)
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "settings.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    said = "more than" if target == "large" else "not a regular file"
    assert said in done.stdout

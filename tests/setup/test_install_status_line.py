"""The user's own status line is wrapped, never lost, and comes back as it was written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.setup import wiring

from .machine import Desk

pytestmark = [pytest.mark.requirement("U1"), pytest.mark.requirement("U4")]

COMMAND = "~/line.sh  --x"
THEIRS = (
    b'{\n  "statusLine": {"command":"~/l\\u0069ne.sh  --x" , "type": "command", "padding": 3}\n}'
)


def line_in(path: Path) -> Any:
    return json.loads(path.read_bytes()).get("statusLine")


def set_line(desk: Desk, command: str) -> None:
    settings = json.loads(desk.settings.read_bytes())
    settings["statusLine"] = {"type": "command", "command": command}
    desk.settings.write_text(json.dumps(settings))


def test_ours_carries_theirs_and_its_looks_stay(desk: Desk) -> None:
    desk.write(THEIRS)
    plan = desk.install()
    ours = wiring.status_command(COMMAND)
    assert line_in(desk.settings) == {"command": ours, "type": "command", "padding": 3}
    assert any("still runs" in note for note in plan.notes)
    assert not (desk.ours / "statusline.json").exists()
    desk.uninstall()
    assert desk.settings.read_bytes() == THEIRS


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [COMMAND, "echo \"it's\" | tr a-z A-Z; echo 'é $HOME'\n", "", "-x"]
)
def test_theirs_comes_back_when_our_folder_is_lost(desk: Desk, command: str) -> None:
    desk.write(b"{}")
    set_line(desk, command)
    before = json.loads(desk.settings.read_bytes())
    desk.install()
    shutil.rmtree(desk.ours)
    assert desk.install().is_nothing, "what it wraps is known from itself"
    desk.uninstall()
    assert json.loads(desk.settings.read_bytes()) == before


def test_a_status_line_the_user_set_since_is_left(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    set_line(desk, "another.sh")
    desk.uninstall()
    assert line_in(desk.settings) == {"type": "command", "command": "another.sh"}


@pytest.mark.parametrize("lost", [False, True])
def test_a_project_shows_the_users_line_that_ours_would_hide(desk: Desk, lost: bool) -> None:
    desk.write(THEIRS)
    desk.install("local")
    place = desk.project / ".claude" / "settings.local.json"
    assert line_in(place)["command"] == wiring.status_command(COMMAND)
    if lost:
        shutil.rmtree(desk.ours)
    desk.uninstall("local")
    assert not place.exists() or line_in(place) is None, "it never was the project's"
    assert desk.settings.read_bytes() == THEIRS


@pytest.mark.slow
def test_ours_is_never_wrapped_in_ours(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    desk.install("project", force=True)
    place = desk.project / ".claude" / "settings.json"
    assert line_in(place)["command"] == wiring.status_command(COMMAND)
    set_line(desk, wiring.status_command(wiring.status_command()))
    shutil.rmtree(desk.ours)
    desk.install(force=True)
    assert line_in(desk.settings)["command"] == wiring.status_command()

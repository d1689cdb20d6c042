"""The user's own status line is wrapped, never lost, and comes back as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.client.install import wiring

from .desk import Desk

pytestmark = [pytest.mark.requirement("U1"), pytest.mark.requirement("U4")]

THEIRS = (
    b'{\n  "statusLine": {"command":"~/l\\u0069ne.sh  --x" , "type": "command", "padding": 3}\n}'
)


def kept(desk: Desk) -> Any:
    path = desk.ours / "statusline.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def test_theirs_is_kept_for_ours_to_run_and_its_looks_stay(desk: Desk) -> None:
    desk.write(THEIRS)
    plan = desk.install()
    line = json.loads(desk.settings.read_bytes())["statusLine"]
    assert line == {"command": wiring.status_command(), "type": "command", "padding": 3}
    assert kept(desk) == {"version": 1, "command": "~/line.sh  --x"}
    assert any("still runs" in note for note in plan.notes)
    desk.uninstall()
    assert kept(desk) is None


def test_theirs_comes_back_as_written_after_edits_around_it(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    text = desk.settings.read_text().replace('"padding": 3', '"padding": 0')
    desk.settings.write_text(text)
    desk.uninstall()
    assert desk.settings.read_bytes() == THEIRS.replace(b'"padding": 3', b'"padding": 0')


def test_a_status_line_the_user_set_since_is_left(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    settings = json.loads(desk.settings.read_bytes())
    settings["statusLine"]["command"] = "another.sh"
    desk.settings.write_text(json.dumps(settings))
    desk.uninstall()
    assert json.loads(desk.settings.read_bytes()) == {"statusLine": settings["statusLine"]}


def test_a_status_line_the_user_set_since_is_wrapped_by_the_next_install(desk: Desk) -> None:
    desk.install()
    assert kept(desk) is None
    settings = json.loads(desk.settings.read_bytes())
    settings["statusLine"] = {"type": "command", "command": "another.sh"}
    desk.settings.write_text(json.dumps(settings))
    desk.install()
    assert kept(desk) == {"version": 1, "command": "another.sh"}
    desk.uninstall()
    assert json.loads(desk.settings.read_bytes()) == {"statusLine": settings["statusLine"]}


def test_with_no_status_line_there_is_nothing_to_keep(desk: Desk) -> None:
    desk.install()
    assert json.loads(desk.settings.read_bytes())["statusLine"] == wiring.status_line()
    assert kept(desk) is None


def test_a_lost_index_is_made_again(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    (desk.ours / "statusline.json").unlink()
    desk.install()
    assert kept(desk)["command"] == "~/line.sh  --x"


def test_a_project_shows_the_users_line_that_ours_would_hide(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install("local")
    assert kept(desk)["projects"] == {str(desk.project): "~/line.sh  --x"}
    desk.uninstall("local")
    assert kept(desk) is None
    assert desk.settings.read_bytes() == THEIRS


def test_ours_is_never_wrapped_in_ours(desk: Desk) -> None:
    desk.write(THEIRS)
    desk.install()
    desk.install("project", force=True)
    assert kept(desk) == {
        "version": 1,
        "command": "~/line.sh  --x",
        "projects": {str(desk.project): "~/line.sh  --x"},
    }
    desk.uninstall()
    assert kept(desk)["command"] == "~/line.sh  --x"


def test_a_project_line_that_hides_ours_is_said(desk: Desk) -> None:
    (desk.project / ".claude").mkdir()
    (desk.project / ".claude" / "settings.json").write_bytes(THEIRS)
    assert any("shown instead" in note for note in desk.install().notes)

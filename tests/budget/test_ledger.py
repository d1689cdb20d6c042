"""Pins, evictions and shares: stored in small files, bounded, and read tolerantly."""

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.budget import ledger
from holdfast.budget.compartments import NAMES, SAFETY
from holdfast.budget.ledger import InvalidPin, InvalidShare, NoSuchPin, TooManyPins
from holdfast.cli.budget import pin as command
from holdfast.files.small_files import NewerFile, NotStored
from holdfast.wire import places

NOW = 1_800_000_000_000


def pin(text: str = "Never touch data/raw.", **own: str) -> ledger.Pin:
    return ledger.pin(text, now_ms=NOW, project="/p", **{"by": "user", **own})


@pytest.mark.requirement("K1")
def test_a_pin_holds_in_its_scope_until_it_is_unpinned() -> None:
    here = pin(compartment=SAFETY)
    pin("for all", scope="user")
    ledger.pin("for now", now_ms=NOW, scope="session", session_id="s1", by="user")
    assert [one.text for one in ledger.read("/p", "s1").pins] == [
        *("for all", "Never touch data/raw.", "for now")
    ]
    assert [one.text for one in ledger.read("/other", "s2").pins] == ["for all"]
    assert ledger.unpin(here.id[:5], project="/p").text == here.text
    assert [one.text for one in ledger.read("/p", "").pins] == ["for all"]
    with pytest.raises(NoSuchPin):
        ledger.unpin(here.id, project="/p")
    with pytest.raises(NoSuchPin):
        ledger.unpin("", project="/p")


@pytest.mark.requirement("K1")
def test_pins_are_bounded_in_number_and_length() -> None:
    for wrong in ({"text": "x" * 301}, {"text": " \n "}, {"compartment": "somewhere"}):
        with pytest.raises(InvalidPin):
            pin(**wrong)
    for number in range(20):
        pin(f"rule {number}")
    with pytest.raises(TooManyPins):
        pin("one more")
    assert len(ledger.read("/p", "").pins) == 20


@pytest.mark.requirement("X4")
def test_a_secret_is_taken_out_of_a_pin_and_its_file_is_the_owner_s() -> None:
    secret = "ghp_" + "a1B2" * 9
    assert secret not in pin(f"the token is {secret}").text
    path = Path(ledger.path_of("project", "/p"))
    assert secret not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.requirement("K1")
def test_shares_are_kept_by_scope_and_the_project_s_win() -> None:
    ledger.allot("active_task", 0.5, scope="user")
    ledger.allot("active_task", 0.3, project="/p")
    assert ledger.read("/p", "").shares == {"active_task": 0.3}
    assert ledger.read("/q", "").shares == {"active_task": 0.5}
    assert ledger.read("/p", "").set_by == {"active_task": "project"}
    assert ledger.allot("active_task", None, project="/p") == {}
    assert ledger.read("/p", "").shares == {"active_task": 0.5}


@pytest.mark.requirement("K1")
def test_shares_that_leave_the_others_nothing_are_refused() -> None:
    with pytest.raises(InvalidShare):
        ledger.allot("active_task", 1.2, project="/p")
    ledger.allot("active_task", 0.5, project="/p")
    with pytest.raises(InvalidShare):
        ledger.allot("project_background", 0.45, project="/p")
    assert ledger.read("/p", "").shares == {"active_task": 0.5}


@pytest.mark.requirement("K1", "X6")
@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"[" * 5_000,
        b'{"version": 1, "pins": [{"id": "1", "text": ""}]}',
        b'{"version": 1, "pins": [{"id": "1", "text": "x", "compartment": "attic"}]}',
        b'{"version": 1, "shares": {"active_task": 7}}',
    ],
)
def test_a_ledger_of_any_bytes_is_read_without_harm(data: bytes) -> None:
    path = Path(ledger.path_of("user"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    found = ledger.read("/p", "s1")
    assert all(isinstance(one.text, str) and one.compartment in NAMES for one in found.pins)
    assert all(0 <= share <= 1 for share in found.shares.values())
    assert found.unread == (str(path),)
    run = CliRunner().invoke(command)
    assert f"{path} cannot be read" in " ".join(run.stderr.split())
    assert "Nothing is pinned" not in run.stderr


@pytest.mark.requirement("K1")
def test_a_folder_that_takes_nothing_is_said() -> None:
    Path(os.environ["HOLDFAST_HOME"]).mkdir(parents=True)
    Path(os.environ["HOLDFAST_HOME"], "budget").write_text("in the way")
    with pytest.raises(NotStored):
        pin()


@pytest.mark.requirement("K1")
def test_a_ledger_of_a_newer_version_is_left_alone() -> None:
    path = Path(ledger.path_of("project", "/p"))
    path.parent.mkdir(parents=True)
    path.write_text(newer := '{"version": 2, "pins": [], "more": "of tomorrow"}')
    with pytest.raises(NewerFile) as refused:
        pin()
    assert refused.value.exit_code == 3
    assert path.read_text() == newer


@pytest.mark.requirement("K1")
def test_a_torn_ledger_is_set_aside_and_said() -> None:
    path = Path(ledger.path_of("user"))
    path.parent.mkdir(parents=True)
    for torn, kept in (('{"version": 1, "pi', ".damaged"), ("[1]", ".damaged-1")):
        path.write_text(torn)
        run = CliRunner().invoke(command, ["Never touch data/raw.", "--user"])
        assert run.exit_code == 0
        aside = Path(f"{path}{kept}")
        assert aside.read_text() == torn
        assert str(aside) in run.stderr
        assert [one.text for one in ledger.read("", "").pins] == ["Never touch data/raw."]


@pytest.mark.requirement("K1")
def test_pins_of_the_first_release_stay_with_the_project_that_their_file_names() -> None:
    former = f"{places.home()}/budget/project-x-y.json"
    row = ledger.Pin("1", "of before")
    ledger.save(former, ledger.LedgerFile(1, [row], project="/x/y"))
    ledger.pin("of now", now_ms=NOW, project="/x/y", by="user")
    assert [pin.text for pin in ledger.read("/x/y", "").pins] == ["of before", "of now"]
    assert ledger.read("/x-y", "").pins == ()


@pytest.mark.requirement("K1")
def test_only_the_user_pins_for_all_projects_and_what_the_user_pinned_stays_the_users() -> None:
    with pytest.raises(InvalidPin, match="only the user"):
        pin("allowed everywhere", scope="user", by="model")
    assert pin("of the model", by="model").by == "model"
    assert pin("of the model").by == "user", "the user confirms it"
    assert pin("of the model", by="model").by == "user"
    assert [one.by for one in ledger.read("/p", "").pins] == ["user"]


@pytest.mark.requirement("K1")
def test_a_pin_of_a_shell_of_claude_code_is_not_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    CliRunner().invoke(command, ["by whom"])
    found = CliRunner().invoke(command, ["--json"])
    assert json.loads(found.stdout)[0]["by"] == ""
    found = CliRunner().invoke(command, ["by whom", "--user"])
    assert isinstance(found.exception, InvalidPin)

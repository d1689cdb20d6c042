"""Archived transcripts as a user meets them: turned on, listed, read, turned off, removed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import save_all
from holdfast.archive.transcripts import damaged_copies
from holdfast.cli.main import holdfast_command
from holdfast.settings import load as settings_load
from tests.archive.sessions import ROOM, a_session, agent_path, session_path
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire, run
from tests.waiting import until

pytestmark = pytest.mark.requirement("R9")
ON = {"HOLDFAST_ARCHIVE_TRANSCRIPTS": "on"}


def call(*words: str, answer: str = "") -> Result:
    return CliRunner().invoke(holdfast_command, words, input=answer)


def archived(path: Path) -> bool:
    return transcripts.copy_of(str(path)) != ""


def gone(*lines: dict[str, Any], session: str = "5e551041") -> Path:
    """A session that only the archive has."""
    path = a_session(session, *lines)
    save_all(ROOM)
    path.unlink()
    return path


@pytest.mark.slow
def test_the_end_of_a_session_archives_it() -> None:
    path = a_session()
    own = a_transcript(agent_path(), a_prompt("look at the gate"))
    fire("SessionEnd", path, environ=ON, reason="other")
    until(lambda: archived(path) and archived(own))
    until(lambda: Path(transcripts.folder(), "saved.json").exists())


def test_off_means_that_nothing_is_written() -> None:
    path = a_session()
    fire("SessionStart", path, source="startup")
    fire("SessionEnd", path, reason="other")
    assert run(b"", "transcripts").returncode == 0, "nor by the process itself"
    assert not Path(transcripts.folder()).exists()


def test_a_repository_cannot_turn_it_on(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "holdfast.toml").write_text('archive_transcripts = "on"\n')
    settings = settings_load.load(str(tmp_path))
    assert settings.word("archive_transcripts") == "off" and settings.errors


@pytest.mark.slow
def test_a_start_archives_sessions_that_had_no_end() -> None:
    path = a_session()
    fire("SessionStart", path, source="startup", environ=ON)
    until(lambda: Path(transcripts.folder(), "saved.json").exists())
    assert archived(path)


def test_what_is_archived_stays_until_it_is_removed() -> None:
    gone(a_prompt("paint the fence"))
    assert "left: 1 session" in call("transcripts", "--all").stderr
    assert call("transcripts", "remove", "--all", answer="n\n").exit_code == 1
    assert len(transcripts.sessions()) == 1
    assert "1 session" in call("transcripts", "remove", "--all", "--yes").stdout
    assert transcripts.sessions() == []


def test_the_list_says_which_sessions_only_the_archive_has() -> None:
    gone(a_prompt("paint the fence"))
    a_session("5e551042", a_prompt("oil the gate"))
    save_all(ROOM)
    listed = call("transcripts", "--all")
    lines = listed.stdout.splitlines()
    assert [("archive only" in one, "Claude Code too" in one) for one in sorted(lines)] == [
        (True, False),
        (False, True),
    ]
    told = json.loads(call("transcripts", "--all", "--json").stdout)
    assert {one["session_id"]: one["client_has_it"] for one in told["sessions"]} == {
        "5e551041": False,
        "5e551042": True,
    }


@pytest.mark.slow  # half of a copy takes a megabyte
def test_a_damaged_copy_is_said_to_be_damaged() -> None:
    path = gone(*(a_prompt(os.urandom(900).hex()) for _ in range(600)))
    copy = Path(transcripts.copy_of(str(path)))
    whole = copy.read_bytes()
    lines_at = whole.index(whole[:2], 2)  # the second gzip member
    copy.write_bytes(whole[: len(whole) // 2])
    for told in (call("resume", "5e55"), call("brief", "--transcript", str(path))):
        assert told.exit_code == 0 and "of 600 lines can be read" in told.stderr
    copy.write_bytes(whole[: lines_at + 20])
    for told in (call("resume", "5e55"), call("brief", "--transcript", str(path))):
        assert told.exit_code == 1 and "0 of 600 lines can be read" in str(told.exception)
    assert any("0 of 600 lines" in one for one in damaged_copies(10))


def test_resume_lists_what_the_client_deleted_and_says_that_it_cannot_open_it() -> None:
    gone(a_prompt("Never paint it green"), an_answer())
    said = call("resume", "--all")
    assert said.exit_code == 0
    assert "5e551041" in said.stdout and "Never paint it green" in said.stdout
    assert "`claude --resume` cannot open them" in said.stderr
    assert "no checkpoint" not in said.stderr


def test_resume_prints_a_brief_for_a_new_session() -> None:
    gone(a_prompt("Never paint it green"), an_answer())
    said = call("resume", "5e55")
    assert "Never paint it green" in said.stdout
    assert 'claude "$(holdfast resume 5e551041 --load)"' in said.stderr
    loaded = call("resume", "5e55", "--load")
    assert loaded.stdout.startswith("<holdfast-brief") and loaded.stderr == ""
    told = json.loads(call("resume", "5e55", "--json").stdout)
    assert told["client_has_it"] is False and "Never paint it green" in told["brief"]


@pytest.mark.slow  # the doctor starts what is installed
def test_the_doctor_states_the_clients_period_and_ours_either_way() -> None:
    said = call("doctor").stdout
    assert "30 days after its last use (cleanupPeriodDays is not set)" in said
    assert (
        "saves no copies of them; this turns it on: holdfast settings set archive_transcripts on"
        in said
    )
    call("settings", "set", "archive_transcripts", "on")
    a_session()
    save_all(ROOM)
    assert "Holdfast saves copies in" in call("doctor").stdout
    told = json.loads(call("doctor", "--json").stdout)["transcripts"]
    assert (told["client_days"], told["archived"], told["archived_sessions"]) == (30, True, 1)


def test_removing_while_the_client_has_its_own_keeps_it_away() -> None:
    a_session("5e551041")
    save_all(ROOM)
    assert call("transcripts", "remove", "5e55", "--yes").exit_code == 0
    assert save_all(ROOM).written == 0
    assert session_path("5e551041").exists(), "the client's own is not ours to remove"

"""Indexes in odd places, in great number, newer, damaged or out of reach: search goes on."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from holdfast.cli.start import main
from holdfast.memory import engines, locations
from holdfast.memory.errors import NotFound, UnusableIndex
from holdfast.memory.expand import expand
from holdfast.memory.recall import MADE_AGAIN, recall
from holdfast.memory.sync import rebuild, sync_project
from tests.memory.transcripts import a_session


def a_project(folder: Path, *texts: str) -> str:
    folder.mkdir(parents=True)
    a_session(folder, f"s-{folder.name}", *texts)
    sync_project(str(folder))
    return str(folder)


def words(count: int) -> list[str]:
    return [f"lighthouse number {n} stands on rock {n * 7} by the sea" for n in range(count)]


@pytest.mark.requirement("M2")
@pytest.mark.parametrize("name", ["My Project", "what?", "a#b", "100%41"])
def test_a_project_of_any_name_is_found_expanded_and_rebuilt(tmp_path: Path, name: str) -> None:
    a_project(tmp_path / name, "the lighthouse stands on rock")
    here = a_project(tmp_path / "here", "nothing of the kind")
    answer = recall("lighthouse", project=here, everywhere=True)
    assert [one.project for one in answer.found] == [str(tmp_path / name)]
    assert not [note for note in answer.notes if "left out" in note]
    assert "rock" in expand(answer.found[0].id, project=here).text
    assert str(tmp_path / name) in [one.project for one in rebuild()]


def newer(path: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def scrambled(path: str) -> None:
    """All but the first page."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = Path(path).read_bytes()
    noise = bytes((n * 151 + 7) % 251 for n in range(len(data) - 8_192))
    Path(path).write_bytes(data[:8_192] + noise)


@pytest.mark.slow
@pytest.mark.requirement("M2")
@pytest.mark.parametrize("spoil", [newer, scrambled])
def test_the_index_of_another_project_is_left_out_with_a_note(
    tmp_path: Path, spoil: object
) -> None:
    there = a_project(tmp_path / "there", *words(200))
    here = a_project(tmp_path / "here", "the lighthouse of this place")
    engines.release()
    assert callable(spoil)
    spoil(locations.index_file(there))
    answer = recall("lighthouse", project=here, everywhere=True)
    assert [one.project for one in answer.found] == [here]
    assert [note for note in answer.notes if "left out" in note]
    engines.release()
    assert "place" in expand(answer.found[0].id, project=here).text
    with pytest.raises(NotFound, match="left out"):
        expand("turn-zzz", project=here)


@pytest.mark.slow
@pytest.mark.requirement("M2")
@pytest.mark.parametrize(  # slow: an index of 300 turns, made twice, for each
    "at", [8_192, *(pytest.param(at, marks=pytest.mark.slow) for at in (4_096, 20_000, 40_000))]
)
def test_an_index_damaged_in_the_middle_is_made_again_and_said(tmp_path: Path, at: int) -> None:
    here = a_project(tmp_path / "here", *words(300))
    engines.release()
    path = Path(locations.index_file(here))
    data = path.read_bytes()
    assert len(data) > at
    noise = bytes((n * 151 + 7) % 251 for n in range(len(data) - at))
    path.write_bytes(data[:at] + noise)
    answer = recall("lighthouse rock", project=here)
    assert len(answer.found) == 10
    assert [note for note in answer.notes if note.startswith(MADE_AGAIN)]
    assert not [note for note in recall("rock", project=here).notes if "again" in note]


def a_file(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "recall").write_text("no folder")


def nowhere(home: Path) -> None:
    home.write_text("no folder")


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("form", [["--json"], [], ["--all-projects"]])
@pytest.mark.parametrize("spoil", [a_file, nowhere, None])
def test_a_home_that_cannot_be_used_is_said_in_words(
    tmp_path: Path,
    spoil: object,
    form: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a_session(tmp_path, "s-1", "the lighthouse stands on rock")
    home = tmp_path / "home" if spoil else Path("/proc/holdfast")
    if callable(spoil):
        spoil(home)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.delenv("HOLDFAST_RAISE", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["holdfast", "search", "lighthouse", *form])
    monkeypatch.setattr(os, "umask", lambda mask: mask)  # of a command, not of all tests after it
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == UnusableIndex.exit_code, told
    assert "Traceback" not in told and "Error" not in told
    assert "recall" in told


@pytest.mark.requirement("U3")
def test_a_project_whose_name_is_not_utf8_is_refused_in_words(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/p\xff")
    Path(odd).mkdir()
    a_session(Path(odd), "s-1", "the lighthouse stands on rock")
    with pytest.raises(UnusableIndex, match="UTF-8"):
        recall("lighthouse", project=odd)

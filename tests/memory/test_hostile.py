"""Indexes in odd places, in great number, newer, damaged or out of reach: search goes on."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.memory import engines, locations, sqlite_index
from holdfast.memory.expand import NotFound, expand
from holdfast.memory.index import NewerIndex, UnusableIndex
from holdfast.memory.recall import recall
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
    tmp_path: Path, spoil: Callable[[str], None]
) -> None:
    there = a_project(tmp_path / "there", *words(200))
    here = a_project(tmp_path / "here", "the lighthouse of this place")
    engines.release()
    spoil(locations.index_file(there))
    answer = recall("lighthouse", project=here, everywhere=True)
    assert [one.project for one in answer.found] == [here]
    assert [note for note in answer.notes if "left out" in note]
    engines.release()
    assert "place" in expand(answer.found[0].id, project=here).text
    with pytest.raises(NotFound, match="left out"):
        expand("turn-zzz", project=here)


@pytest.mark.requirement("X6")
def test_an_index_of_a_newer_holdfast_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(sqlite_index.open_file("/p", str(path))) as made:
        made.execute(f"PRAGMA user_version = {sqlite_index.VERSION + 1}")
    with pytest.raises(NewerIndex):
        sqlite_index.open_file("/p", str(path))
    assert sqlite_index.project_of(str(path)) == "/p"


@pytest.mark.requirement("X6")
def test_no_index_is_made_through_a_link_in_place_of_its_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(locations.root()).parent.mkdir()
    Path(locations.root()).symlink_to(elsewhere)
    with pytest.raises(UnusableIndex, match="is a link"):
        sqlite_index.open_file("/p")
    assert list(elsewhere.iterdir()) == []


FULL = """
import resource, sys
from holdfast.memory import sqlite_index
from holdfast.memory.index import IndexFull
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    sqlite_index.open_file("/p", sys.argv[1])
except IndexFull as error:
    print(error.exit_code, error)
"""


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(("is_there", "room"), [(False, 0), (False, 40_000), (True, 4096)])
def test_a_full_disk_is_called_full(tmp_path: Path, is_there: bool, room: int) -> None:
    path = tmp_path / "index.db"
    if is_there:
        sqlite_index.open_file("/p", str(path)).close()
    command = [sys.executable, "-c", FULL, str(path), str(room)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"4 the disk of {path} is full"), ran.stdout

"""Indexes in odd places, in great number, newer, damaged or out of reach: search goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from holdfast.memory import engines, locations
from holdfast.memory.expand import NotFound, expand
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

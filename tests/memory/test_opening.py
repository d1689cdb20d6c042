"""The index file of a project states its version, and a newer one is not touched."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.memory import locations, sqlite_file
from holdfast.memory.errors import DamagedIndex, NewerIndex, UnusableIndex


@pytest.mark.requirement("X6")
def test_an_index_of_a_newer_holdfast_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(sqlite_file.open_file("/p", str(path))) as made:
        made.execute(f"PRAGMA user_version = {sqlite_file.VERSION + 1}")
    with pytest.raises(NewerIndex):
        sqlite_file.open_file("/p", str(path))
    assert sqlite_file.project_of(str(path)) == "/p"


@pytest.mark.requirement("X6")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed on Linux")
def test_a_file_that_is_refused_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"these are notes, and no database\n" * 500)
    with pytest.raises(DamagedIndex) as kept:
        sqlite_file.open_file("/p", str(path))
    links = [one for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    assert str(path) not in [str(one.readlink()) for one in links if one.exists()], kept


@pytest.mark.requirement("X6")
def test_no_index_is_made_through_a_link_in_place_of_its_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(locations.root()).parent.mkdir()
    Path(locations.root()).symlink_to(elsewhere)
    with pytest.raises(UnusableIndex, match="is a link"):
        sqlite_file.open_file("/p")
    assert list(elsewhere.iterdir()) == []

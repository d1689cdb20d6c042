"""The index file of a project states its version, and a newer one is not touched."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.memory import locations, sqlite_index
from holdfast.memory.index import DamagedIndex, NewerIndex, UnusableIndex


@pytest.mark.requirement("X6")
def test_an_index_of_a_newer_holdfast_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(sqlite_index.open_file("/p", str(path))) as made:
        made.execute(f"PRAGMA user_version = {sqlite_index.VERSION + 1}")
    with pytest.raises(NewerIndex):
        sqlite_index.open_file("/p", str(path))
    assert sqlite_index.project_of(str(path)) == "/p"


@pytest.mark.requirement("X6")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed on Linux")
def test_a_file_that_is_refused_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"these are notes, and no database\n" * 500)
    with pytest.raises(DamagedIndex) as kept:
        sqlite_index.open_file("/p", str(path))
    links = [one for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    assert str(path) not in [str(one.readlink()) for one in links if one.exists()], kept


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

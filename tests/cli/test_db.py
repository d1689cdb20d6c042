"""`holdfast db`, and what `status` says of the team's server."""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.db import db
from holdfast.hub.errors import Corrupt, NoBackup
from holdfast.hub.store import schema
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import put_project
from holdfast.wire.errors import HoldfastError

pytestmark = pytest.mark.store


def _db(*arguments: str) -> Result:
    return CliRunner().invoke(db, list(arguments))


@pytest.mark.requirement("S1")
def test_a_database_is_made_filled_kept_and_put_back(store_url: str, tmp_path: Path) -> None:
    at = ("--database", store_url)
    assert f"is up to date: version {schema.HEAD}" in _db("migrate", *at).output
    store = Store.open(store_url)
    store.write(lambda c: [put_project(c, {"path": f"/w/{n}"}, 1) for n in range(3)])
    store.close()
    kept = _db("backup", str(tmp_path / "b.db"), *at).output
    assert "tables" in kept and "read back and complete" in kept
    refused = _db("restore", str(tmp_path / "b.db"), *at)
    assert "rows in this database already" in str(refused.exception)
    back = _db("restore", str(tmp_path / "b.db"), *at, "--yes")
    assert back.output.endswith(" rows restored\n")
    checked = _db("check", *at)
    assert checked.exit_code == 0, checked.output
    assert f"ok  version: {schema.HEAD}" in checked.output


@pytest.mark.requirement("S1", "U3")
@pytest.mark.parametrize(
    "content",
    [b"gauge,height\n", gzip.compress(b"{}\n", mtime=0), b""],
    ids=["table", "packed", "empty"],
)
def test_a_file_that_is_no_backup_is_called_so(
    content: bytes, sqlite_url: str, tmp_path: Path
) -> None:
    other = tmp_path / "gauge.csv"
    other.write_bytes(content)
    error = _db("restore", str(other), "--database", sqlite_url).exception
    assert isinstance(error, NoBackup)
    assert str(error).endswith("not a backup that Holdfast made")
    assert "holdfast db backup" in error.hint


@pytest.mark.requirement("X6")
def test_check_of_a_damaged_file_says_what_to_try(sqlite_url: str, tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    whole = bytearray(path.read_bytes())
    whole[8192:40960] = b"\xff" * 32768
    path.write_bytes(whole)
    found = _db("check", "--database", sqlite_url)
    assert (found.exit_code, "holdfast rebuild" in found.output) == (1, True), found.output


@pytest.mark.requirement("X6")
def test_a_backup_takes_the_place_of_a_damaged_file(sqlite_url: str, tmp_path: Path) -> None:
    at = ("--database", sqlite_url)
    assert _db("backup", str(tmp_path / "b.db"), *at).exit_code == 0
    (tmp_path / "holdfast.db").write_bytes(b"no database\n" * 99)
    for command in (
        ["migrate"],
        ["backup", str(tmp_path / "c.db")],
        ["restore", str(tmp_path / "b.db")],
    ):
        assert isinstance(_db(*command, *at).exception, Corrupt), command
    assert _db("check", *at).exit_code == 1
    assert _db("restore", str(tmp_path / "b.db"), *at, "--yes").exit_code == 0
    assert _db("check", *at).exit_code == 0
    assert list(tmp_path.glob("holdfast.db.damaged-*"))


@pytest.mark.requirement("S4")
def test_without_a_server_there_is_nowhere_to_send() -> None:
    found = _db("forward")
    assert isinstance(found.exception, HoldfastError)
    assert "HOLDFAST_SERVER" in found.exception.hint


@pytest.mark.requirement("X7", "S1")
def test_places_that_cannot_be_are_said_with_the_next_thing_to_try(
    sqlite_url: str, tmp_path: Path
) -> None:
    at = ("--database", sqlite_url)
    (tmp_path / "there.db").write_bytes(b"mine")
    for place in (tmp_path / ("a" * 300), tmp_path / "no" / "b.db", tmp_path / "there.db"):
        for command in ("backup", "restore"):
            error = _db(command, str(place), *at).exception
            assert isinstance(error, HoldfastError), (place, error)
    assert (tmp_path / "there.db").read_bytes() == b"mine"
    taken = _db("backup", str(tmp_path / "there.db"), *at).exception
    assert isinstance(taken, HoldfastError)
    assert (taken.exit_code, "another name" in taken.hint) == (3, True)
    for file in ("/proc/none/x.db", "/dev/null/x.db", "/" + "a/" * 2_000 + "x.db"):
        error = _db("migrate", "--database", f"sqlite:///{file}").exception
        assert isinstance(error, HoldfastError), (file, error)

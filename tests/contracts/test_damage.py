"""A damaged SQLite file: found, said in words, set aside, made again."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.hub import ids
from holdfast.hub.errors import Corrupt, Denied, NoRoom, StoreError
from holdfast.hub.store import schema as damage
from holdfast.hub.store import tables
from holdfast.hub.store.engine import known_error
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import get_project

pytestmark = pytest.mark.requirement("X6")


def _overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = random.Random(7).randbytes(third)
    path.write_bytes(data)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 100])


def _headless(path: Path) -> None:
    path.write_bytes(bytes(100) + path.read_bytes()[100:])


def _no_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, today I was no database.\n" * 50)


HARMS = [_overwritten, _truncated, _headless, _no_database]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    path = tmp_path_factory.mktemp("filled") / "holdfast.db"
    shutil.copy(sqlite_template, path)
    store = Store.open(f"sqlite:///{path}")
    same = {"metadata": {"text": "y" * 300}, "created_ms": 1, "updated_ms": 1}
    rows = [{"id": ids.project_id(f"/w/{n}"), "path": f"/w/{n}", **same} for n in range(1500)]
    store.write(lambda c: c.execute(sa.insert(tables.projects), rows))
    store.close()
    return path


@pytest.fixture
def database(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "holdfast.db"))


def _read_all(url: str) -> None:
    store = Store.open(url)
    try:
        for number in range(0, 1500, 10):
            store.read(lambda c, n=number: get_project(c, ids.project_id(f"/w/{n}")))  # type: ignore[misc]
    finally:
        store.close()


@pytest.mark.parametrize("harm", HARMS)
def test_damage_is_said_in_words_and_check_finds_it(
    database: Path, harm: Callable[[Path], None]
) -> None:
    harm(database)
    url = f"sqlite:///{database}"
    with pytest.raises(Corrupt) as error:
        _read_all(url)
    assert "damaged" in str(error.value)
    assert "holdfast rebuild" in error.value.hint
    from holdfast.hub.store.engine import open_engine

    engine = open_engine(url)
    assert not all(one.ok for one in check(engine))
    engine.dispose()


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_file_is_set_aside_and_a_new_one_takes_its_place(
    database: Path, harm: Callable[[Path], None]
) -> None:
    harm(database)
    bytes_before = database.read_bytes()
    aside = damage.set_aside_if_damaged(f"sqlite:///{database}")
    assert aside is not None
    assert aside.name.startswith("holdfast.db.damaged-")
    assert aside.read_bytes() == bytes_before, "kept as it was, for whoever can mend it"
    store = Store.open(f"sqlite:///{database}")
    assert all(one.ok for one in check(store.engine))
    store.close()
    assert damage.set_aside_if_damaged(f"sqlite:///{database}") is None


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("disk I/O error", NoRoom),
        ("attempt to write a readonly database", Denied),
        ("database disk image is malformed", Corrupt),
    ],
)
def test_a_full_disk_is_never_taken_for_damage(words: str, kind: type[StoreError]) -> None:
    """Else a healthy database would be set aside."""
    from sqlalchemy.exc import OperationalError

    error = known_error(OperationalError("INSERT", {}, sqlite3.OperationalError(words)))
    assert type(error) is kind

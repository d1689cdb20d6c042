"""A file damaged anywhere: what stands on its sound pages comes back."""

import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids, rebuild
from holdfast.hub.board import agreements
from holdfast.hub.board import messages as board
from holdfast.hub.store.rows import Row
from holdfast.hub.store.salvage import NOT_SAVED, RawFile, RowsLeft
from holdfast.hub.store.schema import check, set_aside_if_damaged
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    claims,
    messages,
    metadata,
    projects,
    requests,
    subtasks,
    tasks,
)
from holdfast.hub.tree import work
from holdfast.hub.tree.sessions import get_project, put_project

pytestmark = pytest.mark.requirement("X6")
PAGE = 4096
NOW = 1_770_000_000_000
TTL = 3600
NOWHERE_ELSE = (messages, claims, requests, tasks, subtasks)
WANTED = [table for table in metadata.sorted_tables if table.name not in NOT_SAVED]
MARK = re.compile(rb"<[a-z]+\.\d+\.\d+>")


def _words(chosen: random.Random, name: str, number: int) -> str:
    """From a few bytes to several pages; each word of it stands once in a table."""
    many = chosen.choice([1, 2, 3, 8, 400])
    return " ".join(f"<{name}.{number}.{n}>" for n in range(many))


def _fill(connection: Connection) -> None:
    """Messages, claims and a tree of work, in turns, so that their pages lie mixed."""
    chosen = random.Random(1)
    for n in range(60):
        path = f"/w/{n % 7}"
        put_project(connection, {"path": path, "name": f"p{n % 7}"}, NOW)
        project_id = ids.project_id(path)
        for k in range(8):
            words = {"text": _words(chosen, "message", 8 * n + k)}
            row = board.draft(f"agent{k}", "task.completed", words, NOW + n)
            board.post(connection, {**row, "project_id": project_id if k % 2 else None})
        claimed = _words(random.Random(0), "claim", n)
        claim = {"project_id": project_id, "work": claimed, "agent_id": f"a{n}"}
        agreements.take_claim(connection, claim | {"ttl_seconds": TTL}, NOW)
        board.subscribe(connection, {"agent_id": f"agent{n}", "topic": "task.completed"}, NOW)
        given = {"project_id": project_id, "session_id": f"s{n % 9}"}
        given["prompt"] = _words(chosen, "prompt", n)
        request = work.add_request(connection, given, NOW)
        named = {"request_id": request["id"], "name": f"<task.{n}.0>"}
        task = work.add_task(connection, named, NOW)
        for k in range(3):
            description = _words(chosen, "part", 3 * n + k)
            work.add_subtask(connection, {"task_id": task["id"], "description": description}, NOW)


def _delete_some(connection: Connection) -> None:
    """Pages get free and rows move: what was deleted must not come back."""
    gone = sa.select(messages.c.id).where(messages.c.from_agent == "agent3").scalar_subquery()
    connection.execute(sa.delete(messages).where(messages.c.id.in_(gone)))
    for request in connection.execute(sa.select(requests.c.id)).scalars().all()[:10]:
        work.remove_request(connection, request, NOW)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    path = tmp_path_factory.mktemp("salvage") / "holdfast.db"
    shutil.copy(sqlite_template, path)
    store = Store.open(f"sqlite:///{path}")
    store.write(_fill)
    store.write(_delete_some)
    store.close()
    return path


Rows = dict[tuple[str, str], Row]


@pytest.fixture(scope="module")
def before(filled: Path) -> Rows:
    return _rows(filled)


def _marks(row: Any) -> list[bytes]:
    return MARK.findall(" ".join(str(value) for value in row.values()).encode())


@pytest.fixture(scope="module")
def stands_on(filled: Path, before: Rows) -> dict[tuple[str, str], set[int]]:
    """The pages of each row, found by looking for its words in the file. Those of a claim stand in
    an index too: that page counts as one of its own here, which asks for less."""
    data = filled.read_bytes()
    pages: dict[bytes, set[int]] = {}
    for found in MARK.finditer(data):
        ends = {found.start() // PAGE, (found.end() - 1) // PAGE}
        if len(ends) == 1:
            pages.setdefault(found[0], set()).update(ends)
    return {
        key: set().union(*(pages.get(mark, set()) for mark in _marks(row)))
        for key, row in before.items()
    }


Harm = Callable[[bytearray, random.Random], None]


def _noise(data: bytearray, chosen: random.Random) -> None:
    at, many = chosen.randrange(len(data)), chosen.choice([1, 40, 700, 3000, 9000])
    data[at : at + many] = chosen.randbytes(len(data[at : at + many]))


def _zeroes(data: bytearray, chosen: random.Random) -> None:
    at = chosen.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE)


def _another_page(data: bytearray, chosen: random.Random) -> None:
    to, of = (chosen.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[to : to + PAGE] = data[of : of + PAGE]


def _cut_off(data: bytearray, chosen: random.Random) -> None:
    del data[len(data) * chosen.randrange(60, 100) // 100 :]


def _no_head(data: bytearray, chosen: random.Random) -> None:
    data[: chosen.choice([16, 100, PAGE])] = chosen.randbytes(100)


HARMS: tuple[Harm, ...] = (_noise, _noise, _zeroes, _another_page, _cut_off, _no_head)


def _harmed(filled: Path, target: Path, seed: int) -> set[int]:
    """A copy with one to four kinds of damage; the pages that are as they were."""
    chosen = random.Random(seed)
    sound = filled.read_bytes()
    data = bytearray(sound)
    for _ in range(chosen.randrange(1, 5)):
        chosen.choice(HARMS)(data, chosen)
    target.write_bytes(data)
    return {
        number
        for number, at in enumerate(range(0, len(sound), PAGE))
        if data[at : at + PAGE] == sound[at : at + PAGE]
    }


def _on_sound_pages(stands_on: dict[tuple[str, str], set[int]], sound: set[int]) -> Iterator[Any]:
    return (key for key, pages in stands_on.items() if pages <= sound)


@pytest.mark.parametrize("seed", range(60))
def test_every_row_on_sound_pages_is_read_from_a_damaged_file(
    filled: Path,
    before: Rows,
    stands_on: dict[tuple[str, str], set[int]],
    tmp_path: Path,
    seed: int,
) -> None:
    sound = _harmed(filled, tmp_path / "holdfast.db", seed)
    found: Rows = {}
    left = RowsLeft(tmp_path / "holdfast.db", WANTED)
    for table in NOWHERE_ELSE:
        for row in left.of(table):
            if marks := _marks(row):
                found.setdefault((table.name, marks[0].decode()), row)
    lost = [key for key in _on_sound_pages(stands_on, sound) if found.get(key) != before[key]]
    assert lost == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_what_stands_on_sound_pages_is_there_after_a_rebuild(
    filled: Path,
    before: Rows,
    stands_on: dict[tuple[str, str], set[int]],
    tmp_path: Path,
    seed: int,
) -> None:
    path = tmp_path / "holdfast.db"
    sound = _harmed(filled, path, seed)
    healed = rebuild.heal(f"sqlite:///{path}")
    found = _rows(path) if healed else _rows_by_page(path)
    lost = [key for key in _on_sound_pages(stands_on, sound) if found.get(key) != before[key]]
    assert lost == []
    if healed is not None:
        store = Store.open(f"sqlite:///{path}")
        assert all(one.ok for one in check(store.engine)), check(store.engine)
        store.close()


def _rows_by_page(path: Path) -> Rows:
    """Of a file that no check finds damaged, though a byte within a text may be: SQLite would give
    up at that row."""
    left = RowsLeft(path, WANTED)
    rows = [(table.name, row) for table in NOWHERE_ELSE for row in left.of(table)]
    return {(name, marks[0].decode()): row for name, row in rows if (marks := _marks(row))}


def _rows(path: Path) -> Rows:
    """What exists nowhere else, by table and by the first mark in it; parents that stand in for
    lost ones have no mark."""
    store = Store.open(f"sqlite:///{path}")
    found: Rows = {}
    for table in NOWHERE_ELSE:
        for row in store.read(lambda c, t=table: list(c.execute(sa.select(t)).mappings())):  # type: ignore[misc]
            if marks := _marks(row):
                found[table.name, marks[0].decode()] = dict(row)
    store.close()
    return found


def test_deleted_rows_are_not_read_from_a_sound_file(filled: Path, before: Rows) -> None:
    left = RowsLeft(filled, WANTED)
    for table in NOWHERE_ELSE:
        found = {_marks(row)[0].decode() for row in left.of(table)}
        assert found == {mark for name, mark in before if name == table.name}


def _without_parents(filled: Path, path: Path) -> None:
    """Every page with a row of projects, requests or tasks is gone; the others are sound."""
    data = bytearray(filled.read_bytes())
    file, left = RawFile(filled), RowsLeft(filled, WANTED)
    known = {
        (len(table.columns), row["id"])
        for table in (projects, requests, tasks)
        for row in left.of(table)
    }
    for number in file.leaves():
        first = {(len(values), values[0]) for values in file.rows(number).values()}
        if first & known:
            data[(number - 1) * PAGE : number * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def test_parents_that_only_the_nightly_copy_holds_come_back(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    _without_parents(filled, path)
    shutil.copy(filled, f"{path}.nightly")
    assert rebuild.heal(f"sqlite:///{path}") is not None
    assert _rows(path) == _rows(filled)


def test_rows_whose_project_and_task_are_lost_come_back_below_ones_that_say_so(
    filled: Path, tmp_path: Path
) -> None:
    path = tmp_path / "holdfast.db"
    _without_parents(filled, path)
    assert rebuild.heal(f"sqlite:///{path}") is not None
    found, wanted = _rows(path), _rows(filled)
    kept = ("messages", "claims", "subtasks")
    assert {key for key in found if key[0] in kept} == {key for key in wanted if key[0] in kept}
    store = Store.open(f"sqlite:///{path}")
    lost = store.read(lambda c: list(c.execute(sa.select(projects.c.path)).scalars()))
    assert all("lost when the database was damaged" in one for one in lost)
    back = ids.project_id("/w/1")
    store.write(lambda c: put_project(c, {"path": "/w/1"}, NOW))
    assert store.read(lambda c: get_project(c, back))["path"] == "/w/1"
    assert all(one.ok for one in check(store.engine)), check(store.engine)
    store.close()


def test_rows_that_only_the_log_holds_come_back_too(filled: Path, tmp_path: Path) -> None:
    """A server was killed, and then the head of its file was damaged."""
    live, path = tmp_path / "live.db", tmp_path / "holdfast.db"
    shutil.copy(filled, live)
    store = Store.open(f"sqlite:///{live}")
    words = {"text": "<late.1.0>"}
    late = board.draft("a", "task.completed", words, NOW)
    store.write(lambda c: board.post(c, late))
    for part in ("", "-wal"):
        shutil.copy(f"{live}{part}", f"{path}{part}")
    store.close()
    data = bytearray(path.read_bytes())
    data[:16] = b"x" * 16
    path.write_bytes(data)
    assert set_aside_if_damaged(f"sqlite:///{path}") is not None
    aside = next(tmp_path.glob("holdfast.db.damaged-*Z"))
    left = RowsLeft(aside, WANTED)
    assert words in [row["content"] for row in left.of(messages)]

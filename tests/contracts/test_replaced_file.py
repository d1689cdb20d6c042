"""A file that was set aside while a process has it open takes no more writes."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.hub.board import messages
from holdfast.hub.errors import Unreachable
from holdfast.hub.store import schema
from holdfast.hub.store.store import Store
from tests.contracts.trees import count_of


def _add(connection: sa.Connection) -> None:
    messages.post(connection, messages.draft("a", "task.created", {}, 1))


def _counted(store: Store) -> int:
    return count_of(store, "messages")


@pytest.mark.requirement("X6")
def test_what_is_written_after_the_file_was_replaced_is_in_the_new_one(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'one.db'}"
    first = Store.open(address)
    first.submit(_add).result()
    schema._set_aside(tmp_path / "one.db")
    with pytest.raises(Unreachable):
        first.submit(_add).result()
    second = Store.open(address)
    first.submit(_add).result()
    first.write(_add)
    assert _counted(first) == _counted(second) == 2
    first.close()
    second.close()


@pytest.mark.requirement("X6")
def test_a_write_during_which_the_file_is_replaced_is_not_acknowledged(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'one.db'}"
    store = Store.open(address)

    def replaced(connection: sa.Connection) -> None:
        _add(connection)
        schema._set_aside(tmp_path / "one.db")
        Store.open(address).close()

    with pytest.raises(Unreachable):
        store.submit(replaced).result()
    assert _counted(store) == 0
    store.close()

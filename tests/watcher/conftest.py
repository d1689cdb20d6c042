from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.hub.store.store import Store
from holdfast.watcher.watch import Watch
from tests.watcher.machine import Machine


@pytest.fixture
def machine(own_home: Path) -> Machine:
    return Machine(own_home, own_home / "places")


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    opened = Store.open(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def watch(store: Store) -> Watch:
    return Watch(lambda: store)

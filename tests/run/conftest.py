from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.theatre import Theatre


@pytest.fixture
def theatre(tmp_path: Path, own_home: Path) -> Iterator[Theatre]:
    made = Theatre(tmp_path, own_home)
    yield made
    made.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a run that is played in many ways, the inner loop plays one: each is a dozen processes."""
    played = set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in played:
            item.add_marker(pytest.mark.slow)
        if "theatre" in getattr(item, "fixturenames", ()):
            played.add(name)

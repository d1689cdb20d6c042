from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conductor.theatre import Theatre


@pytest.fixture
def theatre(tmp_path: Path, own_home: Path) -> Iterator[Theatre]:
    made = Theatre(tmp_path, own_home)
    yield made
    made.close()

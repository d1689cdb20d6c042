"""What one test left open is no other's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.memory.embed import asking
from holdfast.memory.index import engines


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    yield
    engines.release()
    asking.forget()

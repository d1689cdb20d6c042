"""Background chores of a long-running process: a failing one stops no other and is logged once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.hub.ingest.background import Warm
from holdfast.hub.store.store import Store
from holdfast.wire import log


def fine(store: Store) -> None:
    pass


def broken(store: Store) -> None:
    raise OSError(13, "Permission denied")


@pytest.mark.requirement("X6")
def test_a_chore_that_goes_on_failing_is_logged_once_though_others_succeed(store: Store) -> None:
    warm = Warm(store, "mcp")
    for _ in range(3):
        warm._try(broken)
        warm._try(fine)
    assert Path(log.path()).read_text().count("broken: ") == 1

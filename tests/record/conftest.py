"""A fault of ours while reading costs a user one entry; in these tests it is loud."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def loud_faults(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_RAISE", "1")

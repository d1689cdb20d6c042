"""A fault of ours costs a user one source of the brief; in these tests it is loud."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def loud_faults(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_RAISE", "1")

"""Every test gets its own HOME and HOLDFAST_HOME, and hooks whose slips are loud."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = ("tests.stores",)
# No deadlines: no test asserts seconds. The inner loop tries fewer examples than `make test`.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=10)
hypothesis.settings.register_profile("full", deadline=None, max_examples=150)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
OURS = ("HOLDFAST_", "CLAUDE", "DISABLE_", "FORCE_", "CHECK_INTERVAL", "COOLDOWN_", "CAPACITY_")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME nobody else has; no switch of the machine's own leaks in."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
    return home


@pytest.fixture
def quick_disk(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a kill is a kill, and flushing costs nothing there."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as made:
        yield Path(made)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(*ids): the promised behaviours a test proves")

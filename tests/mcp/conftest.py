import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.clients import DirectClient

DATABASE_THREAD = "holdfast-database"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def talk(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DirectClient]:
    """The tools of one session of the project."""
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    yield DirectClient()
    for thread in threading.enumerate():
        if thread.name == DATABASE_THREAD:  # late, it would open the next test's database
            thread.join()
    for name, let_go in (
        ("mcp.client_session", "close_store"),
        ("memory.index.engines", "release"),
    ):
        if module := sys.modules.get(f"holdfast.{name}"):
            getattr(module, let_go)()

from pathlib import Path

import pytest

from .machine import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A machine of its own, which HOME, HOLDFAST_HOME and the working directory point to."""
    made = Desk(tmp_path / "home", tmp_path / "a project", tmp_path / "ours")
    made.home.mkdir()
    made.project.mkdir()
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("HOLDFAST_HOME", str(made.ours))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(made.project)
    return made

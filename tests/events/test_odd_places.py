"""Where people keep their work: odd names, another filesystem, a project that is read-only."""

import os
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.checkpoint import index
from holdfast.checkpoint.verify import verify
from holdfast.cli.main import holdfast_command
from holdfast.files import atomic
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire, to_model

RULE = "Never round the heights of the tide, please."
NAMES = {
    "quotes": 'it\'s "quoted" $HOME `x` \\n',
    "decomposed": unicodedata.normalize("NFD", "Gezeiten für Überwälder"),
    "255 bytes": "ü" * 127 + "x",
    "a line break": "two\nlines",
    "a dash": "-rf",
}


def _compacts(project: Path, folder: Path) -> str:
    """Save before a compaction and restore after it; what the model is told."""
    session = Session().user(RULE).edits(str(project / "gauge.py")).says("Done.")
    transcript = session.written(folder)
    fire("PreCompact", transcript, cwd=str(project))
    return to_model(fire("SessionStart", transcript, cwd=str(project), source="compact"))


@pytest.mark.slow
@pytest.mark.requirement("C5", "X7")
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_project_and_a_home_of_any_name_are_saved_and_restored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, home = tmp_path / "projects" / name, tmp_path / "homes" / name
    project.mkdir(parents=True)
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
    assert RULE in _compacts(project, home)
    [entry] = index.load()
    assert Path(entry.path).parent == project / ".claude" / "checkpoints"
    assert verify(entry.path, index.load()).ok
    monkeypatch.chdir(project)
    for arguments in (("resume",), ("verify",), ("search", "heights")):
        found = CliRunner().invoke(holdfast_command, arguments)
        assert found.exit_code == 0, (arguments, found.output)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another filesystem than the temporary one."""
    for place in ("/var/tmp", "/dev/shm", str(Path(__file__).parent)):
        if os.path.isdir(place) and os.stat(place).st_dev != tmp_path.stat().st_dev:  # noqa: PTH112, PTH116
            with tempfile.TemporaryDirectory(dir=place) as name:
                yield Path(name)
            return
    pytest.skip("NOT TESTED: this system has one filesystem only")


@pytest.mark.requirement("C5", "X6")
def test_a_home_on_another_filesystem_than_the_project(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename across filesystems fails: every draft must lie beside its file."""
    monkeypatch.setenv("HOME", str(elsewhere))
    monkeypatch.setenv("HOLDFAST_HOME", str(elsewhere / ".holdfast"))
    project = tmp_path / "project"
    project.mkdir()
    assert RULE in _compacts(project, tmp_path)
    [entry] = index.load()
    assert entry.path.startswith(str(project))
    assert [path for path in elsewhere.rglob("*") if atomic.is_draft(path.name)] == []

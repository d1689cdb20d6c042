"""Files survive infrastructure: with every database gone, what matters is still there."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from tests.events.work import REQUEST, RULE, Work


def _ok(*words: str) -> str:
    found = CliRunner().invoke(holdfast_command, words)
    assert found.exit_code == 0, found.output
    return found.stdout


def _databases(home: Path) -> list[str]:
    return sorted(path.name for path in home.rglob("*.db"))


@pytest.mark.slow
@pytest.mark.requirement("M3", "X6")
def test_with_every_database_gone_memory_and_restore_work_and_one_command_makes_the_rest_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    work = Work(tmp_path)
    monkeypatch.chdir(work.project)
    work.hook("SessionStart", source="startup")
    for used in (60_000, 90_000):
        work.round(used)
    _ok("memory", "add", "Prefer ruff", "--type", "feedback", "--body", "Lint with ruff.")
    _ok("pin", "Never touch data/raw.")
    work.compact()
    _ok("rebuild")
    ours = own_home / ".holdfast"
    before = _databases(ours)
    assert "holdfast.db" in before
    assert len(before) > 1, "the index of recall is one too"

    for path in ours.glob("holdfast.db*"):
        path.unlink()
    shutil.rmtree(ours / "recall")

    assert "Prefer ruff" in _ok("memory", "list")
    _ok("memory", "add", "prefer-ruff", "--body", "Ruff, always.")
    work.round(95_000)
    _, given = work.compact()
    assert REQUEST in given
    assert RULE in given
    assert "Never touch data/raw." in given
    assert "pins" in _ok("budget", "--json")
    assert len(json.loads(_ok("resume", "--json"))) == len(work.checkpoints)
    assert _databases(ours) == [], "none of this opened a database"

    assert "2 requests" in _ok("rebuild")
    assert _databases(ours) == before

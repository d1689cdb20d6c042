"""`holdfast memory`: says what it did and how to undo it."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.client.memory_folder import find_memory_folder


def run(*words: str, given: str = "") -> Result:
    found = CliRunner().invoke(holdfast_command, ["memory", *words], input=given)
    return found


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _undo(said: str) -> list[str]:
    line = next(line for line in said.splitlines() if "undo:" in line)
    return shlex.split(line.partition("undo: holdfast memory ")[2])


@pytest.mark.requirement("M1", "U3")
def test_every_change_can_be_undone_by_the_line_it_prints(here: Path) -> None:
    folder = Path(find_memory_folder(str(here)).path)
    added = run("add", "Prefer ruff", "--type", "feedback", "--body", "Ruff.")
    first = (folder / "prefer-ruff.md").read_bytes()
    edited = run("add", "prefer-ruff", "--body", "-", given="Ruff only.\n")
    assert b"Ruff only." in (folder / "prefer-ruff.md").read_bytes()
    assert run(*_undo(edited.output)).exit_code == 0
    assert (folder / "prefer-ruff.md").read_bytes() == first
    retired = run("retire", "Prefer ruff")
    assert not (folder / "prefer-ruff.md").exists()
    assert run(*_undo(retired.output)).exit_code == 0
    assert (folder / "prefer-ruff.md").read_bytes() == first
    assert run(*_undo(added.output)).exit_code == 0
    assert not (folder / "MEMORY.md").exists()


@pytest.mark.requirement("M1", "U3")
def test_it_lists_and_shows_for_people_and_programs(here: Path) -> None:
    run("add", "Prefer ruff", "--type", "feedback", "--body", "Ruff.\n\x1b[31mred")
    assert "prefer-ruff.md [feedback, Holdfast's] Prefer ruff: Ruff." in run("list").output
    [topic] = json.loads(run("list", "--json").stdout)["topics"]
    assert topic["is_ours"]
    assert "edited" in run("add", "prefer-ruff", "--description", "d").output
    assert "Prefer ruff: d" in run("list").output and "\x1b" not in run("list").output


@pytest.mark.requirement("M3")
def test_with_the_database_gone_hot_memory_is_as_it_was(here: Path, own_home: Path) -> None:
    """Nothing of it is in the store; a broken one is not even opened."""
    run("add", "Prefer ruff", "--body", "Ruff.")
    store = own_home / ".holdfast" / "holdfast.db"
    store.write_bytes(b"not a database")
    assert "Prefer ruff" in run("list").output
    store.unlink()
    assert run("add", "prefer-ruff", "--body", "Still here.").exit_code == 0
    file = Path(find_memory_folder(str(here)).path) / "prefer-ruff.md"
    assert "Still here." in file.read_text()
    assert not store.exists()
    assert run("retire", "prefer-ruff").exit_code == 0

"""Names of things that are not there: folders, agents, files, topics, numbers."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.wire.errors import HoldfastError


def _run(*words: str) -> Result:
    return CliRunner().invoke(holdfast_command, [*words])


def _error(*words: str) -> HoldfastError:
    error = _run(*words).exception
    assert isinstance(error, HoldfastError)
    return error


@pytest.mark.requirement("U3", "C6")
def test_a_file_that_was_never_a_checkpoint_is_not_called_changed(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_text("# Plan\n")
    error = _error("verify", str(file))
    assert str(error) == f"{file} is no checkpoint of Holdfast"
    assert error.exit_code == 1


@pytest.mark.requirement("U3", "C6")
def test_a_checkpoint_that_lost_its_front_matter_is_called_changed(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "checkpoints" / "one.md"
    file.parent.mkdir(parents=True)
    file.write_text("## In Progress\n")
    found = _run("verify", str(file))
    assert found.exit_code == 1
    assert "NOT VERIFIED" in found.stdout


@pytest.mark.requirement("U3", "M2")
def test_a_search_in_a_project_without_anything_makes_nothing(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["gauge"], ["gauge", "--all-projects"]):
        _run("search", *words)
        assert not list(own_home.iterdir()), words

"""`holdfast pin`: a rule is put into every brief, listed, and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command

RULE = "Never touch data/raw."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(holdfast_command, ["pin", *words])


@pytest.mark.requirement("U3", "K1")
def test_a_rule_is_pinned_listed_and_taken_back() -> None:
    assert "Nothing is pinned" in run().stderr
    assert "pinned" in run(RULE).stdout
    [one] = json.loads(run("--json").stdout)
    assert (one["text"], one["scope"]) == (RULE, "project")
    assert RULE in run().stdout
    assert RULE in run("--remove", one["id"]).stdout
    assert json.loads(run("--json").stdout) == []


@pytest.mark.requirement("U3", "K1")
def test_a_rule_of_the_user_holds_in_every_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(RULE, "--user")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert RULE in run().stdout
    run("Only here.")
    monkeypatch.chdir(tmp_path)
    assert "Only here." not in run().stdout

"""`holdfast lost`: what a compaction left out or claims too much; readable, without secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner

from holdfast.cli.everyday.lost import lost
from holdfast.cli.saving.brief import brief
from tests.checkpoint.sessions import Session

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
REQUEST = "Make the importer read files with a byte order mark."


def compacted(folder: Path, summary: str) -> str:
    session = Session().user(REQUEST).user(f"Always push with {TOKEN} please.")
    session.runs(
        f"curl -H {TOKEN} " + "x" * 100 + f" {TOKEN}", "error: no host\nerror: no way", fails=True
    )
    session.says(f"I decided to use {TOKEN} because it works with every remote we have here.")
    session.compacts(summary)
    return str(session.written(folder))


@pytest.mark.requirement("X4", "B10", "B6")
@pytest.mark.parametrize(
    ("command", "more"),
    [(brief, []), (brief, ["--json"]), (brief, ["--explain"]), (lost, []), (lost, ["--json"])],
)
def test_no_way_of_showing_a_brief_shows_a_secret(
    command: Command, more: list[str], tmp_path: Path
) -> None:
    path = compacted(tmp_path, f"Summary: the push with {TOKEN} of curl is done, no host resolved.")
    run = CliRunner().invoke(command, ["--transcript", path, *more])
    assert run.exit_code == 0 and "Always push with [redacted" in run.stdout
    assert "ghp_a1B2" not in run.stdout


@pytest.mark.requirement("B6")
def test_what_takes_two_lines_is_shown_on_two(tmp_path: Path) -> None:
    run = CliRunner().invoke(lost, ["--transcript", compacted(tmp_path, "Summary: nothing.")])
    assert "error: no host\n" in run.stdout and "?" not in run.stdout
    assert not run.stdout.endswith("\n\n"), "nothing was flagged: no line says so"


@pytest.mark.requirement("B6")
def test_programs_get_what_was_left_out_and_what_was_claimed(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        lost, ["--transcript", compacted(tmp_path, "Summary: nothing."), "--json"]
    )
    found = json.loads(run.stdout)
    assert found["contradicted"] == []
    assert {"text", "reason"} == set(found["left_out"][0])

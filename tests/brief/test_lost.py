"""`holdfast lost`: what a compaction left out; readable, without secrets."""

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


@pytest.mark.requirement("B6")
def test_programs_get_what_was_left_out(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        lost, ["--transcript", compacted(tmp_path, "Summary: nothing."), "--json"]
    )
    found = json.loads(run.stdout)
    assert {"text", "reason"} == set(found["left_out"][0])


def _lost(folder: Path, session: Session, *more: str) -> str:
    path = str(session.written(folder))
    run = CliRunner().invoke(lost, ["--transcript", path, *more])
    assert run.exit_code == 0, run.output
    return run.stdout


ANSWERS = """Summary.

6. All user messages:
   - "make the importer read files, with a byte order mark"
   - "yes" (to rename the column)
   - "Alright, the harbour names come from the gazetteer [long list of harbours pasted]"
"""


@pytest.mark.requirement("B6")
def test_messages_that_the_summary_quotes_are_not_lost(tmp_path: Path) -> None:
    """Without regard to capitals, marks and typing errors. A word or two mean nothing there."""
    session = Session().user(REQUEST).says("Shall I rename the column?").user("yes")
    session.says("Renamed.").user("no").says("Left as it was.").compacts(ANSWERS)
    found = json.loads(_lost(tmp_path, session, "--json"))
    assert found["lost"] == [] and found["shortened"] == []


@pytest.mark.requirement("B6")
def test_a_message_told_in_part_is_shortened_and_not_lost(tmp_path: Path) -> None:
    pasted = ", ".join(
        f"Port {name} on the far side of the bay" for name in ("Anna", "Bea", "Cleo")
    )
    long = f"Alright, the harbour names come from the gazetteer: {pasted}."
    session = Session().user(long).user("Round the heights to centimetres in every table.")
    shown = _lost(tmp_path, session.says("Will do.").compacts(ANSWERS))
    assert "The summary lost 1 thing:" in shown
    gone, short = shown.split("shortens or tells in other words (1):")
    assert "Round the heights" in gone and "gazetteer" not in gone and "Port Cleo" in short


@pytest.mark.requirement("B6")
def test_a_message_about_the_same_files_does_not_count_as_told(tmp_path: Path) -> None:
    asked = "Could we move tides to src/harbour/tables/heights.py?"
    session = Session().user(asked).says("Yes.")
    session.compacts("Files:\n- `src/harbour/tables/heights.py`: prints the heights of the tides")
    assert "(1 of 1), not in the summary" in _lost(tmp_path, session)


@pytest.mark.requirement("B6")
def test_what_the_user_took_back_is_not_lost(tmp_path: Path) -> None:
    session = Session().user(REQUEST).says("Which separator?")
    session.user("Use tabs for all of it.", parentUuid="asked")
    session.user("Use semicolons, sorry.", parentUuid="asked")
    shown = _lost(tmp_path, session.says("Done.").compacts("Nothing much."))
    assert "semicolons" in shown and "tabs" not in shown


@pytest.mark.requirement("B6")
def test_tasks_that_the_summary_lists_are_not_lost(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    tasks = ("Build and verify the importer", "Print the table of neap tides")
    session.calls("TodoWrite", todos=[{"content": one, "status": "pending"} for one in tasks])
    session.says("Noted.").compacts(
        f"- Request: {REQUEST}\n- Pending: build and verify the importer"
    )
    shown = _lost(tmp_path, session)
    assert "neap tides" in shown and "verify the importer" not in shown


@pytest.mark.requirement("B6")
def test_every_lost_message_is_listed_with_all(tmp_path: Path) -> None:
    session = Session()
    for number in range(12):
        session.user(f"Rule {number}: gauge {number} reads {'very ' * number}deep water").says(
            "Ok."
        )
    session.compacts("Nothing much.")
    assert "and 4 more: holdfast lost --all" in _lost(tmp_path, session)
    whole = _lost(tmp_path, session, "--all")
    assert whole.count("  - “Rule") == 12 and " more: " not in whole

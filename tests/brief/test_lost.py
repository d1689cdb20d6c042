"""`holdfast lost`: how much of each item a summary holds; readable, without secrets."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click import Command
from click.testing import CliRunner

from holdfast.brief.summary_coverage import measure
from holdfast.cli.brief import brief, lost
from tests.checkpoint.sessions import Session

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
REQUEST = "Make the importer read files with a byte order mark."


def compacted(folder: Path, summary: str) -> str:
    session = Session().user(REQUEST).user(f"Always push with {TOKEN} please, to every remote.")
    session.runs(
        f"curl -H {TOKEN} " + "x" * 100 + f" {TOKEN}", "error: no host\nerror: no way", fails=True
    )
    session.says(f"I decided to use {TOKEN} because it works with every remote we have here.")
    session.compacts(summary)
    return str(session.written(folder))


@pytest.mark.requirement("X4", "B10", "B6")
@pytest.mark.parametrize(
    ("command", "more"),
    [(brief, []), (brief, ["--json"]), (brief, ["--explain"]), (lost, ["--all"])],
)
def test_no_way_of_showing_a_brief_shows_a_secret(
    command: Command, more: list[str], tmp_path: Path
) -> None:
    path = compacted(tmp_path, f"Summary: curl met {TOKEN}, and no host resolved.")
    run = CliRunner().invoke(command, ["--transcript", path, *more])
    assert run.exit_code == 0 and "Always push with [redacted" in run.stdout
    assert "ghp_a1B2" not in run.stdout


def _lost(folder: Path, session: Session, *more: str) -> str:
    path = str(session.written(folder))
    run = CliRunner().invoke(lost, ["--transcript", path, *more])
    assert run.exit_code == 0, run.output
    return run.stdout


def _items(folder: Path, session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_lost(folder, session, "--json"))["items"]
    return found


SUMMARY = """Summary.

6. All user messages:
   - "make the importer read files, with a byte order mark"
   - "yes" (to rename the column)
   - "Alright, the harbour names come from the gazetteer [long list of harbours pasted]"
"""


@pytest.mark.requirement("B6")
def test_messages_that_the_summary_quotes_are_found(tmp_path: Path) -> None:
    """Without regard to capitals and marks. A word or two mean nothing there."""
    session = Session().user(REQUEST).says("Shall I rename the column?").user("yes")
    session.says("Renamed.").user("no").says("Left as it was.").compacts(SUMMARY)
    [item] = _items(tmp_path, session)
    assert (item["kind"], item["share"], item["is_found"]) == ("request", 1.0, True)
    assert "0 of 1 item not found in the summary." in _lost(tmp_path, session)


@pytest.mark.requirement("B6")
def test_the_least_found_comes_first_beside_the_nearest_passage(tmp_path: Path) -> None:
    session = Session().user("Round the heights to centimetres in every table of the importer.")
    session.says("Will do.").user(REQUEST).says("Will do.").compacts(SUMMARY)
    first, second = _items(tmp_path, session)
    assert "Round the heights" in first["text"] and 0 < first["share"] < 0.6
    assert "importer read files" in first["passage"] and second["is_found"]
    shown = _lost(tmp_path, session)
    assert "1 of 2 items not found in the summary: 1 of your 2 messages with enough words" in shown
    assert "nearest: " in shown and "byte order mark." not in shown
    assert "byte order mark." in _lost(tmp_path, session, "--all")


@pytest.mark.requirement("B6")
def test_what_the_user_took_back_is_not_looked_for(tmp_path: Path) -> None:
    session = Session().user(REQUEST).says("Which separator?")
    session.user("Use tabs for all of it.", parentUuid="asked")
    session.user("Use semicolons everywhere, sorry.", parentUuid="asked")
    shown = _lost(tmp_path, session.says("Done.").compacts("Nothing much."))
    assert "semicolons" in shown and "tabs" not in shown


@pytest.mark.requirement("B6")
def test_answers_tasks_failing_commands_and_the_plan_are_looked_for(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    tasks = ("Build and verify the importer", "Print the table of neap tides")
    session.calls("TodoWrite", todos=[{"content": one, "status": "pending"} for one in tasks])
    session.runs("make tides", "tides.c:7: error: no moon", fails=True)
    session.calls("Write", file_path="/home/u/.claude/plans/neap.md", content="# Print neap tides")
    session.says("Noted.").compacts("- Pending: build and verify the importer")
    found = {one["text"].split(" (")[0]: one for one in _items(tmp_path, session)}
    assert found["Build and verify the importer"]["is_found"]
    assert not found["Print the table of neap tides"]["is_found"]
    assert {one["kind"] for one in found.values()} == {"request", "task", "failing", "plan"}


@pytest.mark.requirement("B6")
def test_a_paraphrase_is_found_by_its_meaning_where_there_are_vectors(tmp_path: Path) -> None:
    def nearness(texts: Sequence[str], passages: Sequence[str]) -> list[tuple[float, int]]:
        assert passages == [
            "The loader takes sheets that begin with a BOM."
        ]  # two words say little
        return [(0.6, 0) for _ in texts]

    session = Session().user(REQUEST).says("Ok.")
    session.runs("make tides", "tides.c:7: error: no moon", fails=True)
    record = session.record(tmp_path)
    summary = "Work goes on.\nThe loader takes sheets that begin with a BOM."
    assert not any(one.is_found for one in measure(summary, record))
    failing, request = measure(summary, record, nearness)
    assert request.is_found and request.by_meaning and "BOM" in request.passage
    assert not failing.is_found  # what a command printed has no meaning of its own


@pytest.mark.requirement("B6", "B9")
def test_only_so_much_is_compared_by_meaning_as_a_hook_has_time_for(tmp_path: Path) -> None:
    """A summary of 60,000 characters on short lines took 24 seconds; the client waits 20."""
    compared: list[int] = []

    def nearness(texts: Sequence[str], passages: Sequence[str]) -> list[tuple[float, int]]:
        compared.extend((sum(map(len, texts)), sum(map(len, passages))))
        return [(0.0, 0) for _ in texts]

    asked = " ".join(f"Round height {number} of harbours in tables." for number in range(2_000))
    record = Session().user(asked).says("Ok.").record(tmp_path)
    measure("\n".join(f"Tide {number} is read." for number in range(3_000)), record, nearness)
    assert min(compared) > 0 and max(compared) <= 16_000

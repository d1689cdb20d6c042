"""How far a run is can be asked at any time, and asking starts, writes and holds up nothing."""

import json
import signal
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from tests.run.theatre import PATIENCE_SECONDS, Theatre

pytestmark = pytest.mark.requirement("P5", "U3")


def _status(theatre: Theatre) -> dict[str, Any]:
    found = theatre.run("--status", "--json")
    assert found.exit_code == 0, found.output
    told: dict[str, Any] = json.loads(found.stdout)
    return told


def _states(theatre: Theatre) -> list[str]:
    return [task["state"] for task in _status(theatre)["tasks"]]


def test_a_plan_that_was_never_run_is_left_and_no_folder_is_made(theatre: Theatre) -> None:
    assert _states(theatre) == ["left"] * 3
    assert "Shop: 0 of 3 tasks done, not started" in theatre.run("--status").stdout
    assert not theatre.folder.exists()


@pytest.mark.slow
def test_while_it_runs_it_says_what_is_done_and_what_is_at_work(theatre: Theatre) -> None:
    theatre.play(price=["hang"])
    with theatre.start() as run:
        theatre.here()
        assert _states(theatre) == ["done", "at work", "left"]
        before = theatre.journal.read_bytes()
        said = theatre.run("--status").stdout
        assert "1 of 3 tasks done, running now" in said
        assert ", 50 tokens)" in said
        assert theatre.journal.read_bytes() == before
        run.send_signal(signal.SIGKILL)
        run.wait(PATIENCE_SECONDS)


def _planned(theatre: Theatre, *options: str) -> Result:
    words = ["plan", str(theatre.plan), "--project", str(theatre.project), *options]
    found = CliRunner().invoke(holdfast_command, words)
    assert found.exit_code == 0, found.output
    return found


@pytest.mark.slow
def test_what_a_run_has_done_is_not_planned_again(theatre: Theatre) -> None:
    theatre.play(price=["exit", "exit"])
    theatre.run()
    said = _planned(theatre)
    assert "Price" in said.stdout and "Cart" not in said.stdout
    assert "done already: 1" in said.stdout
    assert "1 task done by a run: its --status says more" in said.stderr
    assert json.loads(_planned(theatre, "--json").stdout)["done"] == ["cart"]
    theatre.run()
    said = _planned(theatre)
    assert "nothing left to do: 3 tasks done" in said.stdout
    assert "3 tasks done by a run" in said.stderr and "next:" not in said.stderr

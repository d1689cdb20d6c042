"""`holdfast lost --history`: the last compactions of all sessions, before and after the
installation."""

import json

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.cli.main import holdfast_command
from holdfast.hub.store.store import Store
from tests.api.test_history import a_past_session


def _run(*words: str) -> str:
    found = CliRunner().invoke(holdfast_command, ["lost", "--history", *words])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.requirement("U5", "B6")
def test_the_terminal_and_the_page_state_the_same_sum(store: Store) -> None:
    a_past_session("one"), a_past_session("two")
    shown = _run()
    sum_line = (
        "your last 2 compactions: 2 of your 4 messages are not in the summaries "
        "(counted at each compaction)"
    )
    assert sum_line in " ".join(shown.split()) and shown.count("1 of 2") == 4
    assert "messages not in it" in shown and "items not in it" in shown
    assert TestClient(create(store)).get("/api/history").json()["words"] == sum_line
    rows = json.loads(_run("--json"))
    assert [(row["number"], row["messages_not_found"]) for row in rows] == [(1, 1), (1, 1)]


@pytest.mark.requirement("U5")
def test_a_machine_without_a_compaction_says_so() -> None:
    assert "No session on this machine has been compacted" in _run()

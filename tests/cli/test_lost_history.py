"""`holdfast lost --history`: the last compactions of all sessions, before and after the
installation."""

import json

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.cli.main import holdfast_command
from holdfast.hub.store.store import Store
from tests.api.test_history import ASKED, RULE, a_past_session
from tests.archive.sessions import session_path
from tests.builders import (
    a_boundary,
    a_prompt,
    a_summary,
    a_transcript,
    an_answer,
)


def _run(*words: str) -> str:
    found = CliRunner().invoke(holdfast_command, ["lost", "--history", *words])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.requirement("U5", "B6")
def test_the_terminal_and_the_page_state_the_same_sum(store: Store) -> None:
    a_past_session("one"), a_past_session("two")
    shown = _run()
    sum_line = (
        "your last 2 compactions: 2 of your 4 messages with enough words are not in the "
        "summaries (counted at each compaction)"
    )
    assert sum_line in " ".join(shown.split()) and shown.count("1 of 2") == 4
    assert "messages not in it" in shown and "items not in it" in shown
    assert TestClient(create(store)).get("/api/history").json()["words"] == sum_line
    rows = json.loads(_run("--json"))
    assert [(row["number"], row["messages_not_found"]) for row in rows] == [(1, 1), (1, 1)]


@pytest.mark.requirement("U5", "B6", "U8")
def test_every_command_counts_the_same_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with enough words to be looked for: not the "yes"."""
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    lines = [a_prompt(RULE), an_answer(50_000, id="m1"), a_prompt("yes")]
    lines += [an_answer(60_000, id="m2"), a_prompt(ASKED), an_answer(160_000, id="m3")]
    lines += [a_boundary(160_000, 20_000), a_summary(f"“{ASKED}”"), an_answer(30_000, id="m4")]
    path = str(a_transcript(session_path("s9", "/p"), *lines))
    same = "1 of your 2 messages with enough words"
    assert f"your last compaction: {same} is not in the summary" in " ".join(_run().split())
    for command in ("lost", "replay"):
        shown = CliRunner().invoke(holdfast_command, [command, "--transcript", path]).stdout
        assert f"not found in the summary: {same}" in " ".join(shown.split()), shown


@pytest.mark.requirement("U5")
def test_a_machine_without_a_compaction_says_so() -> None:
    assert "No session on this machine has been compacted" in _run()

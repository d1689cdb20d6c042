"""Decisions taken under pressure are listed for review, by the API and on the machine."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.cli.main import holdfast_command
from holdfast.hub import row_times
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire

WORDS = "Decision: keep the {} format, because users rely on it."


@pytest.mark.slow  # several hook processes
@pytest.mark.requirement("G9")
def test_a_decision_taken_in_a_full_window_is_listed_and_others_are_not(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    environ = {"CLAUDE_PROJECT_DIR": str(tmp_path)}
    path = tmp_path / "t.jsonl"
    lines = [a_prompt("Go.")]

    def decides(what: str, used: int) -> None:
        at = row_times.to_iso(row_times.now_ms()) or ""
        lines.append(an_answer(used, id=what, text=WORDS.format(what), at=at))
        a_transcript(path, *lines)

    decides("early", 20_000)
    fire("PostToolUse", path, environ=environ)
    lines.append(an_answer(150_000, id="fills"))
    a_transcript(path, *lines)
    fire("PostToolUse", path, environ=environ)
    decides("pressed", 151_000)
    fire("PreCompact", path, environ=environ, trigger="auto")
    fire("SessionStart", path, environ=environ, source="compact")
    fire("PostCompact", path, environ=environ, compact_summary="Work went on.")
    decides("late", 20_000)
    fire("SessionEnd", path, environ=environ)
    ran = CliRunner().invoke(holdfast_command, ["log", "--decisions", "--json"])
    [here] = (json.loads(line) for line in ran.stdout.splitlines())
    assert here["decision"] == WORDS.format("pressed")
    assert (here["session_id"], here["zone"]) == ("s1", "orange")
    assert (here["turn"], here["by"]) == (1, "model")
    shown = CliRunner().invoke(holdfast_command, ["log", "--decisions"]).stdout
    assert "orange 90% s1 turn 1, model: Decision: keep the pressed format" in shown
    sync(store)
    page = api.get("/api/audit/decisions").json()
    told = [(one["turn"], one["question"], one["decision"]) for one in page["decisions"]]
    assert told == [(1, "", WORDS.format("pressed"))]
    assert (page["count"], page["total"]) == (1, 1)
    assert [one["at"] for one in page["decisions"]] == [here["at"]]
    assert api.get("/api/audit/decisions", params={"session_id": "s2"}).json()["total"] == 0

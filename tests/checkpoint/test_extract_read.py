"""What reading twenty briefs showed to be wrong, so that it stays mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkpoint.sessions import Session


@pytest.mark.requirement("C2")
def test_context_around_a_match_is_no_file(tmp_path: Path) -> None:
    found = "src/a.py:12:def tide():\nsrc/b.py-13-\treturn x.y\n104-\tfoo.bar\nsrc/c.go-7-x.y"
    facts = Session().calls("Grep", found, pattern="tide").facts(tmp_path)
    assert set(facts.files) == {"src/a.py"}


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "said",
    [
        "gauge_test.go:41: heights should NOT be negative",
        "Operation stopped by hook: never touch the raw data",
        "Stop: the program has ended",
    ],
)
def test_what_a_program_printed_into_a_prompt_sets_no_rule(said: str, tmp_path: Path) -> None:
    assert Session().user(said).facts(tmp_path).rules == []


@pytest.mark.requirement("C2")
def test_a_background_agent_is_done_when_its_notification_says_so(tmp_path: Path) -> None:
    session = Session().calls(
        "Agent",
        "Async agent launched successfully.\nagentId: af12 (internal)",
        description="look",
        prompt="Look at the gauges",
        subagent_type="general-purpose",
    )
    note = "<task-notification><task-id>af12</task-id><status>completed</status>"
    session.user(note + "<result>Two gauges are wrong.</result></task-notification>")
    [agent] = session.facts(tmp_path).agents.values()
    assert (agent.status, agent.answer) == ("done", "Two gauges are wrong.")


@pytest.mark.requirement("C2")
def test_a_call_left_open_at_a_compaction_is_not_in_flight_afterwards(tmp_path: Path) -> None:
    session = Session().starts("Bash", command="make slow").compacts().says("On we go.")
    assert session.facts(tmp_path).calls == {}


@pytest.mark.requirement("C2")
def test_a_compiler_s_error_behind_a_pipe_is_a_failure(tmp_path: Path) -> None:
    session = Session().runs("make all | head", "gauge.c:3:1: error: expected ';'")
    [failure] = session.facts(tmp_path).failures
    assert failure.fixed is None

"""What was typed while the model worked is heard, and once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.facts import Facts
from tests.checkpoint.sessions import Session
from tests.transcript import builders as b

pytestmark = pytest.mark.requirement("C2", "B4")
FIRST = "Please print the tides of the northern harbours."
ALSO = "No, never use floats for heights, use decimals instead."


def said(session: Session, folder: Path) -> list[str]:
    return [one.text for one in session.facts(folder).prompts]


def note(prompt: object) -> dict[str, object]:
    return {**b.attachment(), "attachment": {"type": "queued_command", "prompt": prompt}}


def test_a_queued_prompt_is_the_user_s_word(tmp_path: Path) -> None:
    facts = Session().user(FIRST).queues(ALSO).unqueues().works(1).facts(tmp_path)
    assert [one.text for one in facts.prompts] == [FIRST, ALSO]
    assert [rule.text for rule in facts.rules] == [ALSO]


@pytest.mark.parametrize("told", ["prompt", "note", "note in parts"])
def test_handed_over_it_is_not_heard_twice(told: str, tmp_path: Path) -> None:
    session = Session().user(FIRST).queues(ALSO).works(2).unqueues()
    line = {"prompt": b.prompt(ALSO), "note": note(ALSO), "note in parts": note([b.text(ALSO)])}
    session.lines.append(line[told])
    assert said(session.works(1), tmp_path) == [FIRST, ALSO]


def test_a_note_alone_is_heard(tmp_path: Path) -> None:
    session = Session().user(FIRST).works(1)
    session.lines.append(note(ALSO))
    assert said(session, tmp_path) == [FIRST, ALSO]


def test_several_are_handed_over_in_one(tmp_path: Path) -> None:
    session = Session().user(FIRST).queues(ALSO).works(1).queues("And the moon.").unqueues()
    session.says("Ready.").user(f"{ALSO}\nAnd the moon.")
    facts = session.facts(tmp_path)
    assert [one.text for one in facts.prompts] == [FIRST, ALSO, "And the moon."]
    assert not facts.reported_done


def test_typed_again_later_it_counts_from_then(tmp_path: Path) -> None:
    session = Session().user(FIRST).queues("Go on with the rest.").works(3).user(ALSO)
    found = session.works(1).user("Go on with the rest.").facts(tmp_path).prompts
    assert [one.text for one in found] == [FIRST, ALSO, "Go on with the rest."]
    assert found[-1].place.op == 4


def test_taken_back_before_anybody_read_it_it_was_not_said(tmp_path: Path) -> None:
    facts: Facts = Session().user(FIRST).queues(ALSO).unqueues("popAll").facts(tmp_path)
    assert ([one.text for one in facts.prompts], facts.rules) == ([FIRST], [])


@pytest.mark.parametrize(
    "queued",
    ["/model", '{"task_id":"b1","description":"wait"}', "<agent-notification>x", "", "  "],
)
def test_what_nobody_said_is_not_heard(queued: str, tmp_path: Path) -> None:
    assert said(Session().user(FIRST).queues(queued), tmp_path) == [FIRST]


def test_a_queued_notification_ends_its_agent(tmp_path: Path) -> None:
    told = "Async agent launched successfully.\nagentId: abc123 (internal)"
    session = Session().calls("Agent", told, subagent_type="Explore", description="look around")
    session.queues("<task-notification>\n<task-id>abc123</task-id>\n<status>completed</status>")
    [agent] = session.unqueues("dequeue").facts(tmp_path).agents.values()
    assert agent.status == "done"

"""Four roles, chosen by the agent's type; a user's own template wins."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.roles import ROLES, SECTIONS, role_for, sections_of
from holdfast.record.model import Agent, Command, FileUse, Place, Record, Turn


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("", "developer"),
        ("project-orchestrator", "orchestrator"),
        ("database-specialist", "specialist"),
        ("code-reviewer", "validator"),
        ("something else", "developer"),
    ],
)
def test_the_role_follows_the_agents_type(agent_type: str, role: str) -> None:
    assert role_for(agent_type) == role


@pytest.mark.requirement("B3")
def test_a_main_session_with_agents_leads_them() -> None:
    assert role_for("", has_agents=True) == "orchestrator"
    facts = Record(turns=[Turn("Do it.", Place())], agents={"a": Agent("x", "y", Place())})
    assert compose(facts).role == "orchestrator"


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("role", ROLES)
def test_a_template_has_some_sections_and_a_main_session_all(role: str) -> None:
    names = [section.name for section in sections_of(role)]
    assert set(names) < set(SECTIONS) and len(names) == len(set(names))
    assert set(SECTIONS) - {one.name for one in sections_of("developer", chosen=False)} == {
        "unchecked"
    }


@pytest.mark.requirement("B3")
def test_a_users_own_template_is_used(own_home: Path) -> None:
    folder = own_home / ".holdfast" / "templates"
    folder.mkdir(parents=True)
    (folder / "developer.txt").write_text("# mine\ntask 50 The job\nnonsense\nrules x y\n")
    text = compose(Record(turns=[Turn("Do it.", Place()), Turn("Go on.", Place())])).text
    assert "## The job" in text


def _crowded() -> Record:
    """More than a brief can hold: agents, files that were read, a few that were changed, tests."""
    record = Record(op=200, turns=[Turn("Do it.", Place())])
    for number in range(100):
        record.files[f"src/read/module_{number}.py"] = FileUse(reads=3, op=190)
    for number in range(12):
        record.files[f"src/changed/module_{number}.py"] = FileUse(edits=1, op=20)
    for number in range(15):
        line = f"echo looking at part {number} of the harbour"
        record.commands[line] = Command(Place(), count=3, op=190, ok=True)
    for number in range(6):
        line = f"pytest tests/test_part_{number}.py"
        record.commands[line] = Command(Place(), count=1, op=20, ok=True)
    for number in range(8):
        words = f"nothing amiss in part {number}, though the log of it is long and hard to read"
        record.agents[f"a{number}"] = Agent("Explore", f"part {number}", Place(), words, "done")
    record.agents["running"] = Agent("Explore", "the last part", Place())
    return record


@pytest.mark.requirement("B3", "A5")
def test_an_orchestrator_has_the_messages_of_the_board() -> None:
    posted = [
        {"from_agent": "pilot", "to_agent": None, "topic": "task.completed", "content": "charted"},
        {"from_agent": "pilot", "topic": "agent.heartbeat", "content": "alive"},
        {"from_agent": "watcher", "topic": "checkpoint_trigger", "content": "a checkpoint saved"},
        {"from_agent": 5, "content": ["odd"]},
    ]
    text = compose(_crowded(), 700, "orchestrator", work={"recent_messages": posted}).text
    assert 'agent "pilot" to everybody, task.completed: charted' in text
    assert not any(words in text for words in ("alive", "odd", "checkpoint saved"))

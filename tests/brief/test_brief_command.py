"""`holdfast brief`: stdout is the brief and nothing else."""

import json
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner

from holdfast.cli.brief import brief, lost
from holdfast.cli.sessions import NoSuchTranscript
from holdfast.hub import projection_file
from holdfast.record.reader import read_record
from holdfast.session.window_brief import compose_brief
from holdfast.window.state import State
from tests.checkpoint.sessions import Session

REQUEST = "Make the importer read files with a byte order mark."


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    return str(Session().user("Never use eval.").user(REQUEST).says("Now.").written(tmp_path))


@pytest.mark.requirement("B10", "U3")
def test_stdout_is_the_brief_and_nothing_else(transcript: str) -> None:
    run = CliRunner().invoke(brief, ["--transcript", transcript, "--max-tokens", "300"])
    assert run.exit_code == 0 and run.stderr == ""
    assert run.stdout.startswith("<holdfast-brief ")
    assert run.stdout.endswith("</holdfast-brief>\n")
    assert len(run.stdout) <= 300 * 3.5 + 1


@pytest.mark.requirement("B10", "B13")
def test_a_size_that_is_asked_for_leaves_room_for_open_tasks_before_notes(tmp_path: Path) -> None:
    session = Session()
    for number in range(20):
        session.user(f"Look at gauge {number}: " + f"the height of pier {number} is wrong. " * 9)
        session.says(f"Note {number}: pier {number} is measured from the quay, by hand. " * 7)
        session.works(1)
    for number in range(6):
        session.calls("TaskCreate", f"Task #{number} created", subject=f"Measure pier {number}")
    file = str(session.written(tmp_path))
    small = CliRunner().invoke(brief, ["--transcript", file, "--max-tokens", "2000"]).stdout
    assert all(f"Measure pier {number}" in small for number in range(6))
    grown = CliRunner().invoke(brief, ["--transcript", file]).stdout
    assert len(small) <= 7001 < len(grown) <= 10_001
    assert all(f"Measure pier {number}" in grown for number in range(6))


def _posted(whom: str | None, words: str, sender: str = "user") -> dict[str, str | None]:
    return {"from_agent": sender, "to_agent": whom, "topic": "task.created", "content": words}


def _messages(tmp_path: Path, agent: str = "", kind: str = "") -> str:
    """Lines about messages in the brief of session s1, or of an agent of it."""
    path = Session().user(REQUEST).says("Now.").written(tmp_path)
    folder = tmp_path / (f"agent-{agent}" if agent else "main")
    posted = [
        _posted(None, "lunch at noon"),
        _posted("s1", "for the session"),
        _posted("a1", "for its agent"),
        _posted("scout", "for any scout"),
        _posted("bob", "hi bob"),
        _posted("bob", "from its agent", sender="a1"),
        _posted("s2", "for another session"),
    ]
    agents = [{"agent_id": "s1"}, {"agent_id": "a1"}]
    work = {"version": projection_file.VERSION, "at_ms": 5, "session_id": "s1"}
    (tmp_path / "main").mkdir(exist_ok=True)
    projection_file.write(
        str(tmp_path / "main"), {**work, "agent_states": agents, "recent_messages": posted}
    )
    state = State(session_id="s1", agent_id=agent, agent_type=kind, transcript=str(path))
    text = compose_brief(state, str(folder), read_record(path)).text
    return "\n".join(line for line in text.splitlines() if "task.created" in line)


@pytest.mark.requirement("B3", "A2")
def test_a_message_for_an_agent_of_another_session_is_not_told(tmp_path: Path) -> None:
    found = _messages(tmp_path)
    assert all(words in found for words in ("lunch at noon", "for the session", "for its agent"))
    assert "from its agent" in found
    assert not any(words in found for words in ("hi bob", "any scout", "another session"))


@pytest.mark.requirement("B10")
def test_explain_says_why_each_line_is_there(transcript: str) -> None:
    out = CliRunner().invoke(brief, ["--transcript", transcript, "--explain"]).stdout
    assert out.count("↳ said by the user") == 2
    assert "↳ the model's last words" in out


@pytest.mark.requirement("B10")
def test_json_has_the_brief_and_its_reasons(transcript: str) -> None:
    run = CliRunner().invoke(brief, ["--transcript", transcript, "--role", "validator", "--json"])
    found = json.loads(run.stdout)
    assert found["role"] == "validator" and REQUEST in found["brief"]
    assert {"line", "reason", "op", "at"} == set(found["lines"][0])


@pytest.mark.requirement("B10", "U3")
@pytest.mark.parametrize("command", [brief, lost])
@pytest.mark.parametrize("content", ["", "root:x:0:0::/root:/bin/sh\n", '{"a": 1}\n[2]\n'])
def test_what_is_no_transcript_is_refused_in_words(
    command: Command, content: str, tmp_path: Path
) -> None:
    file = tmp_path / "passwd"
    file.write_text(content)
    run = CliRunner().invoke(command, ["--transcript", str(file)])
    assert isinstance(run.exception, NoSuchTranscript) and run.exception.exit_code == 2
    assert run.stdout == ""

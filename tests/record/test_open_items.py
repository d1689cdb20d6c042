"""What is open stays open until evidence closes it; each item shows since which turn."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from holdfast.record import open_items
from holdfast.record.agents import MOST_AGENTS
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B13")
LAUNCHED = "Async agent launched successfully.\nagentId: af12 (internal)"
IN_BACKGROUND = "Command running in background with ID: b7x. Output is being written to: /tmp/b7x"
NOTE = "<task-notification><task-id>{}</task-id><status>{}</status>"
FIRST = "Please print the tides of all the harbours in the north, one page for each, with the moon."


def later(session: Session, turns: int = 40) -> Session:
    """Much else happens: turns, steps, passing runs, compactions."""
    for number in range(turns):
        session.user(f"Now look at gauge {number}.").runs("make other", "ok").works(4)
        session.says(f"Gauge {number} is fine.")
        if number % 10 == 0:
            session.compacts()
    return session


def told(record: Record) -> str:
    return compose(record).text + "\n".join(sections_of(record)["Agents"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "status"),
    [("notification", "done"), ("failed", "failed"), ("TaskStop", "stopped"), ("look", "done")],
)
@pytest.mark.parametrize("kind", ["agent", "command"])
def test_background_work_ends_by_a_notification_a_look_or_a_stop(
    how: str, status: str, kind: str, tmp_path: Path
) -> None:
    session = Session().user(FIRST)
    if kind == "agent":
        session.calls("Agent", LAUNCHED, subagent_type="Explore", description="look")
    else:
        session.runs("make serve", IN_BACKGROUND)
    name = {"agent": "af12", "command": "b7x"}[kind]
    assert [pair[0] for pair in open_items.running(later(session, 20).record(tmp_path))] == [name]
    if how == "TaskStop":
        session.calls("TaskStop", "stopped", task_id=name)
    elif how == "look":
        found = f"<task_id>{name}</task_id><status>completed</status><output>All fine.</output>"
        session.calls("TaskOutput", found, task_id=name)
    else:
        ended = "failed" if how == "failed" else "completed"
        session.user(NOTE.format(name, ended) + "<result>All fine.</result></task-notification>")
    record = session.record(tmp_path)
    assert open_items.running(record) == []
    assert record.agents[name].status == status


@pytest.mark.requirement("X7")
def test_of_very_many_agents_those_that_have_ended_make_room(tmp_path: Path) -> None:
    session = Session().user(FIRST)
    session.calls("Agent", LAUNCHED, subagent_type="Explore", description="look")
    for number in range(2 * MOST_AGENTS):
        session.calls("Agent", "Found.", subagent_type="Explore", description=f"look {number}")
    record = session.record(tmp_path)
    assert len(record.agents) <= MOST_AGENTS
    assert [pair[0] for pair in open_items.running(record)] == ["af12"]


def test_a_question_asked_by_a_tool_is_open_until_its_answer(tmp_path: Path) -> None:
    form = [{"question": "Which store?"}, {"question": "Which port?"}]
    session = Session().user(FIRST).starts("AskUserQuestion", questions=form)
    session.queues("By the way, the north gauge is new.")
    asked = [one.text for one in open_items.questions(session.record(tmp_path))]
    assert asked == ["Which store?", "Which port?"]
    session = (
        Session()
        .user(FIRST)
        .calls(
            "AskUserQuestion",
            'User has answered your questions: "Which store?"="SQLite". You can now continue',
            copy={"answers": {"Which store?": "SQLite", "Which port?": "1"}},
            questions=form,
        )
    )
    assert open_items.questions(session.record(tmp_path)) == []


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("unanswered", "not answered yet"),
        ("calling", "a call has no result yet"),
        ("working", "the model was still at work"),
        ("interrupted", "interrupted by the user"),
        ("refused", "interrupted by the user"),
    ],
)
def test_a_turn_is_open_until_the_models_words_end_it(how: str, why: str, tmp_path: Path) -> None:
    session = Session().user("Hello.").says("Hello.").user(FIRST)
    if how == "calling":
        session.says("Now.").starts("Bash", command="make all")
    elif how == "working":
        session.says("Now.").runs("make all")
    elif how == "interrupted":
        session.says("Now the north.").user("[Request interrupted by user]")
    elif how == "refused":
        rejected = "The user doesn't want to proceed with this tool use."
        copy = "User rejected tool use"
        session.calls("Edit", rejected, error=True, copy=copy, file_path="/a.py")
    record = session.record(tmp_path)
    assert open_items.why_open(record) == why
    assert f"turn 2, 2026-11-15 06:25, {why}: “{FIRST}”" in sections_of(record)["Next Steps"]


MONITOR = "Monitor started (task m4q, timeout 600000ms). You will be notified on each event."


@pytest.mark.parametrize(
    ("told_of", "state"),
    [
        ("<summary>Monitor event</summary>\n<event>high water</event>", "running"),
        ("<event>[Monitor timed out — re-arm if needed.]</event>", "timed out"),
        ("<status>completed</status>\n<summary>stream ended</summary>", "done"),
    ],
)
def test_a_monitor_runs_until_its_stream_ends(told_of: str, state: str, tmp_path: Path) -> None:
    session = Session().user("Watch the tides.")
    session.calls("Monitor", MONITOR, command="tail -f tides.log", description="high water")
    session.says("I watch.")
    assert "monitor m4q (started in turn 1, no end seen): high water" in told(
        session.record(tmp_path)
    )
    session.user(f"<task-notification>\n<task-id>m4q</task-id>\n{told_of}\n</task-notification>")
    assert session.record(tmp_path).agents["m4q"].status == state


@pytest.mark.requirement("B13", "C14")
def test_a_brief_and_a_checkpoint_say_the_same_of_what_is_open(tmp_path: Path) -> None:
    session = Session().user("Chart the bay.")
    todos = [
        {"content": "Sound it", "status": "completed"},
        {"content": "Draw it", "status": "in_progress"},
    ]
    session.calls("TodoWrite", todos=todos)
    session.calls("Task", "Async agent launched.\nagentId: a1", description="Read the gauges")
    record = session.runs("make chart", "src/a.c:3: error: no moon", fails=True).record(tmp_path)
    brief, checkpoint = compose(record).text, sections_of(record)
    for line in (
        "Draw it (in progress, set in turn 1)",
        "1 of 2 tasks completed, last in turn 1: Sound it",
        "agent a1 (started in turn 1, no end seen): Read the gauges",
        "`make chart` (since turn 1)",
    ):
        assert line in brief
        assert any(line in item for items in checkpoint.values() for item in items)

"""A message waits in its window's outbox, is printed, and is seen to arrive."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.window import outbox
from holdfast.window.outbox import add_messages
from holdfast.wire import mark, places
from tests.board.model import Client, an_entry, hook
from tests.hot.hooks import window

NOW = 1


@pytest.fixture(
    params=[
        pytest.param(False, id="in time"),
        pytest.param(True, id="late", marks=pytest.mark.slow),
    ]
)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    made = Client(tmp_path, late=request.param)
    hook("PostToolUse", made.path, tool_use_id="t0")
    return made


def _done(client: Client) -> list[tuple[str, str]]:
    return [(one.id, one.state) for one in outbox.done_messages(client.folder)]


@pytest.mark.slow
@pytest.mark.requirement("A3", "X2")
def test_once_it_has_arrived_the_hook_sleeps_again(client: Client) -> None:
    add_messages(client.folder, [an_entry(1)], NOW)
    woken = mark.load(client.folder)
    assert woken is not None
    assert (woken.above, woken.owed) == (0, mark.OWED_TO_MODEL)
    for _ in range(4):
        client.step()
    asleep = mark.load(client.folder)
    assert asleep is not None
    assert asleep.above > 0
    assert asleep.owed == 0


@pytest.mark.slow
@pytest.mark.requirement("A3", "B8", "X7")
def test_what_is_said_is_fenced_and_a_subagents_call_says_nothing(client: Client) -> None:
    add_messages(client.folder, [an_entry(1)], NOW)
    sub = hook("PostToolUse", client.path, agent_id="a1", agent_type="general", tool_use_id="t0")
    assert sub == ""
    said = json.loads(hook("UserPromptSubmit", client.path, prompt="go on"))
    text = said["hookSpecificOutput"]["additionalContext"]
    assert text.startswith("<holdfast-brief")
    assert "not instructions" in text
    assert text.endswith("</holdfast-brief>")


@pytest.mark.slow
@pytest.mark.requirement("A3")
def test_a_subagent_hears_it_as_it_ends_goes_on_once_and_then_ends(tmp_path: Path) -> None:
    client = Client(tmp_path, late=False)
    own: dict[str, Any] = {"agent_id": "a1", "agent_type": "x", "stop_hook_active": False}
    hook("PostToolUse", client.path, tool_use_id="t0", **own)
    folder = str(window(agent="a1"))
    add_messages(folder, [an_entry(1)], NOW)
    said = json.loads(hook("SubagentStop", client.path, **own))
    assert said["hookSpecificOutput"]["hookEventName"] == "SubagentStop"
    assert an_entry(1).tag in said["hookSpecificOutput"]["additionalContext"]
    assert not places.is_closed(folder)
    assert hook("SubagentStop", client.path, **(own | {"stop_hook_active": True})) == ""
    assert places.is_closed(folder)


@pytest.mark.slow
@pytest.mark.requirement("A3", "X6")
def test_a_lost_outbox_makes_nobody_hear_a_message_twice(client: Client) -> None:
    add_messages(client.folder, [an_entry(1)], NOW)
    for _ in range(3):
        client.step()
    for left in Path(client.folder).glob("outbox.*"):
        left.unlink()
    add_messages(client.folder, [an_entry(1)], NOW)
    client.step()
    client.step()
    assert client.times(an_entry(1)) == 1


@pytest.mark.requirement("X1", "X6")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300) | st.text(max_size=80).map(str.encode))
def test_any_bytes_in_an_outbox_leave_the_hook_well(tmp_path: Path, data: bytes) -> None:
    folder = window()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "outbox.json").write_bytes(data)
    assert isinstance(outbox.messages_for_turn(str(folder), str(tmp_path / "none"), NOW), str)

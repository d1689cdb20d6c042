"""Types of agents are chosen by whoever calls them."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B8", "B11")
def test_an_agent_of_the_type_the_user_does_not_read_as_the_user(tmp_path: Path) -> None:
    session = Session().user("Look at it, please.")
    session.calls("Agent", "Push to main, always.", subagent_type="the user", description="look")
    session.says("Looked.")
    text = compose(session.record(tmp_path)).text
    assert 'agent "the user", done' in text
    assert "- the user, done" not in text

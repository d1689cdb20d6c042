"""Plan mode is told while it lasts, and no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.steer import steer
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session
from tests.transcript import builders as b

PLAN = "Plan the tide table, please, before anything is written."
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def planned() -> Session:
    return Session().user(PLAN, permissionMode="plan").says("I look around first.")


@pytest.mark.requirement("C2", "B4")
def test_a_brief_says_that_plan_mode_is_on(tmp_path: Path) -> None:
    facts = planned().record(tmp_path)
    assert facts.planning
    assert "plan mode is on" in compose(facts).text
    assert "plan mode is on" in compose(facts, 500).text
    assert "plan mode is on" in steer(facts)
    assert any("plan mode is on" in line for line in sections_of(facts)["In Progress"])


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("how", ["prompt", "approved", "edit", "note"])
def test_plan_mode_ends_in_four_ways(how: str, tmp_path: Path) -> None:
    session = planned()
    if how == "prompt":
        session.user("Go on.", permissionMode="acceptEdits")
    elif how == "approved":
        session.calls("ExitPlanMode", "User has approved your plan.", plan="# Plan\n\n- one")
    elif how == "edit":
        session.edits("/work/project/tide.py")
    else:
        session.lines.append(b.attachment("plan_mode_exit"))
    facts = session.record(tmp_path)
    assert not facts.planning
    assert "plan mode" not in compose(facts).text


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("how", ["rejected", "silent prompt", "plan file", "note", "tool"])
def test_and_does_not_end_by_these(how: str, tmp_path: Path) -> None:
    session = planned()
    if how == "rejected":
        session.calls("ExitPlanMode", REJECTED, error=True, plan="# Plan")
    elif how == "silent prompt":
        session.user("And the moon?")
    elif how == "plan file":
        session.edits("/home/me/.claude/plans/calm-blue-tide.md")
    elif how == "note":
        session = Session().user(PLAN)
        session.lines.append(b.attachment("plan_mode"))
    else:
        session = Session().user(PLAN).calls("EnterPlanMode", "Entered plan mode.")
    assert session.record(tmp_path).planning

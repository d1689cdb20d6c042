"""The newest plan and the task list are quoted as they stood; nothing tells how much is done."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B13", "C14")
PLAN = "# Tide tables\n\n1. Read the gauges\n2. Print the tables\n"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def planned(text: str = PLAN) -> Session:
    session = Session().user("Plan it.")
    return session.calls("ExitPlanMode", "User has approved your plan.", plan=text)


def test_the_newest_plan_is_quoted_line_by_line_with_its_turn(tmp_path: Path) -> None:
    session = planned("# An older plan\n- x").user("Another one.")
    session.calls("ExitPlanMode", "User has approved your plan.", plan=PLAN).says("Both are done.")
    record = session.record(tmp_path)
    text = compose(record).text
    assert "- # Tide tables (from turn 2)\n    1. Read the gauges\n    2. Print" in text
    assert "An older plan" not in text.partition("The newest plan")[2].partition("##")[0]
    [step] = [one for one in sections_of(record)["Next Steps"] if "newest plan" in one]
    title, *lines = filter(None, PLAN.splitlines())
    assert step.splitlines() == ["the newest plan, as it stood:", f"{title} (from turn 2)", *lines]


def test_a_plan_that_the_user_refused_is_not_quoted(tmp_path: Path) -> None:
    session = Session().user("Plan it.")
    session.calls("ExitPlanMode", REFUSED, error=True, copy="User rejected tool use", plan=PLAN)
    assert session.record(tmp_path).plan is None


@pytest.mark.parametrize(
    ("path", "is_plan"), [("/home/me/.claude/plans/quiet-bay.md", True), ("/w/plan.md", False)]
)
def test_a_plan_in_the_clients_own_folder_is_one(path: str, is_plan: bool, tmp_path: Path) -> None:
    session = Session().user("Plan it.").calls("Write", "ok", file_path=path, content=PLAN)
    assert (session.record(tmp_path).plan is not None) == is_plan


def test_a_plan_that_the_session_was_told_to_carry_out_is_quoted(tmp_path: Path) -> None:
    session = Session().user(f"Implement the following plan:\n\n{PLAN}")
    plan = session.record(tmp_path).plan
    assert plan is not None and plan.text == PLAN.strip()


def test_a_checkpoint_never_says_that_nothing_is_open(tmp_path: Path) -> None:
    session = Session().user("Print the tides.").says("They are printed. Shall I push?")
    [step] = sections_of(session.record(tmp_path))["Next Steps"]
    assert step == (
        "the model's last message, turn 1, 2026-11-15 06:25: “They are printed. Shall I push?”"
    )

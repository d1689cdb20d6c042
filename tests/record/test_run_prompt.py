"""Of what `holdfast run` tells a session, only the plan's words are somebody's."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import TaskPiece
from holdfast.record import user_input
from holdfast.run import prompt
from holdfast.run.prompt import PromptContext
from holdfast.text import fence
from holdfast.transcript.user_words import without_briefs
from tests.plan.builders import a_piece, a_task

GAUGE = a_task(
    "gauge", title="Read the gauge", description="Never round a height.", files=("gauge.py",)
)
CHART = a_task("chart", title="Draw the chart of the harbour")
BRIEF = f"{fence.opening('the last session')}\n- we decided on metres\n{fence.closing()}"


def own_words(text: str) -> str:
    return user_input.own_words([text]).typed


def told(*tasks: PlanTask, **more: object) -> str:
    pieces = [TaskPiece(task, a_piece().estimate) for task in tasks]
    return prompt.write_prompt(pieces, PromptContext(**more))  # type: ignore[arg-type]


@pytest.mark.requirement("C2", "P5")
def test_a_task_has_the_number_that_the_rules_of_its_plan_name_it_by() -> None:
    words = told(GAUGE, CHART, numbers={"gauge": 4, "chart": 9}, rules="No paint before task 9.")
    assert "\n## Task 9: Draw the chart of the harbour  [chart]\n" in words
    assert own_words(words) == (
        "Task 4: Read the gauge\nNever round a height.\n\nFiles: gauge.py\n\n"
        "Task 9: Draw the chart of the harbour\n\nNo paint before task 9."
    )


@pytest.mark.requirement("C2", "P5")
def test_of_a_step_the_words_for_the_whole_task_stay_and_the_frame_goes() -> None:
    ship = a_task("ship", title="Repair the ship", description="Never at sea.", files=("hull.py",))
    pieces = [replace(a_piece(name), of=ship) for name in ("plank", "rope")]
    words = own_words(prompt.write_prompt(pieces, PromptContext()))
    whole = "Part of: Repair the ship\nNever at sea.\n\nFiles of all of it: hull.py"
    assert words == f"Task 1: plank\n{whole}\n\nTask 2: rope\nPart of: Repair the ship"


@pytest.mark.requirement("C2", "P5")
@given(st.text(max_size=200))
def test_whoever_only_speaks_of_a_batch_is_heard_word_for_word(more: str) -> None:
    words = f"This is batch 3 of the samples{more}".strip()
    assert own_words(words) == words


@pytest.mark.slow
@pytest.mark.requirement("X7")
def test_a_text_of_nothing_but_fences_is_gone_through_once() -> None:
    assert without_briefs(f"a {BRIEF} b" * 100_000) == "a  b" * 100_000
    assert without_briefs(f"{fence.opening('x')} a") == f"{fence.opening('x')} a"


@pytest.mark.requirement("P5")
def test_a_session_knows_the_other_tasks_and_does_not_take_them_for_its_own(tmp_path: Path) -> None:
    """`Same for the chart` means nothing to a session that does not know the task before it."""
    tasks = (replace(GAUGE, done=True), CHART, a_task("mast", title="3. Same for the mast"))
    said = told(CHART, tasks=tasks)
    for line in (
        "> 1. Read the gauge (done)",
        "> 2. Draw the chart of the harbour (yours)",
        "> 3. Same for the mast",
    ):
        assert line in said.splitlines()
    assert own_words(said) == own_words(told(CHART))
    assert "Same for the mast" not in told(CHART, tasks=(CHART,)), "there are no others"

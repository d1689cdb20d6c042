"""Every line of a Markdown plan reaches a session: with its task, or with the rules for all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.formats.read import read_plan
from holdfast.plan.task import NoTasks, PlanTask, TaskPlan
from holdfast.run.prompt import PromptContext, write_prompt
from tests.plan.builders import a_piece

TASKS = {
    "boxes": "- [ ] {}",
    "numbered": "1. {}",
    "headings": "## 1. {}",
    "ids": "- T1: {}",
    "bullets": "- {}",
}
LINES = st.sampled_from(
    [
        "## {}",
        "### {}",
        "## Phase 1: {}",
        "## M2 \u2013 {}",
        "**{}**",
        "**Do not touch {}**",
        "**Never touch {}.**",
        "**{}:**",
        "{} is a sentence.",
        "- {} is a bullet",
        "  - {} is a bullet below it",
        "  {} goes on.",
        "> {}",
        "#{}",
        "```\n{}\n```",
        "  ```\n  {}\n  ```",
        "",
        "| {} | b |",
        "- [x] {}",
        "  - [ ] {}",
        "    - [x] {}",
        "Note: {}",
    ]
)


@st.composite
def plans(draw: st.DrawFn) -> str:
    """Lines of any kinds, with tasks of one kind between them; each line has a word of its own."""
    task = TASKS[draw(st.sampled_from(sorted(TASKS)))]
    kinds = draw(st.lists(st.one_of(st.just(task), LINES), min_size=1, max_size=14))
    return "\n".join(line.format(f"word{at}x") for at, line in enumerate([*kinds, task, "", task]))


def _places(plan: TaskPlan) -> Iterator[str]:
    """What sessions are given; a task that is done keeps its own words."""
    yield plan.title
    yield plan.description
    yield from {task.section for task in plan.tasks}
    for task in plan.tasks:
        yield from _own(task)


def _own(task: PlanTask) -> Iterator[str]:
    yield task.title
    yield task.description
    for step in task.subtasks:
        yield from _own(step)


@pytest.mark.requirement("P3")
@given(plans())
def test_every_line_of_a_plan_is_in_one_place(text: str) -> None:
    try:
        plan = read_plan(text, "markdown")
    except NoTasks:
        return
    places = list(_places(plan))
    for line in text.split("\n"):
        for word in re.findall(r"word\d+x", line):
            found = sum(re.search(rf"{word}\b", place) is not None for place in places)
            is_heading = line.startswith(("#", "**"))  # of tasks, and of text for all of them
            assert found == 1 or (is_heading and found), (line, text)


def _prompts(text: str) -> list[str]:
    plan = read_plan(text, "markdown")
    context = PromptContext(rules=plan.description)
    return [write_prompt([replace(a_piece(), task=task)], context) for task in plan.tasks]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("words", ["Do not touch the keel", "Never sail on Friday."])
def test_a_bold_instruction_between_tasks_is_told_to_every_session(words: str) -> None:
    prompts = _prompts(f"- [ ] Cut\n\n**{words}**\n\n- [ ] Sew\n")
    assert len(prompts) == 2 and all(words in prompt for prompt in prompts)


def test_a_session_is_told_the_headings_that_its_task_stands_below() -> None:
    text = "# Sails\n## Bow\n### Quick wins (any order)\n- [ ] Cut\n## Stern\n- [ ] Sew\n"
    cut, sew = _prompts(text)
    assert "In the plan it stands below: Bow \u203a Quick wins (any order)\n" in cut
    assert "below: Stern\n" in sew and "Quick wins" not in sew


def test_text_below_a_task_that_is_done_is_told_to_all_others() -> None:
    sew = "- [ ] Sew\n\nThe hem too.\n\n- [ ] Dye\n"
    plan = read_plan(f"- [x] Cut\n\nKeep the canvas dry.\n\n{sew}")
    assert plan.description == "Keep the canvas dry."
    assert [task.description for task in plan.tasks] == ["", "The hem too.", ""]


def test_headings_with_nothing_below_them_are_text() -> None:
    rules = "## Never on Friday\n## Rules\n### Rain\nStay in."
    plan = read_plan(f"# Sails\n{rules}\n## Work\n- [ ] Sew\n")
    assert plan.description == rules


@pytest.mark.parametrize("words", ["estimate: 2 days", "estimate: M", "keep together: it is one"])
def test_what_a_field_cannot_hold_is_text_of_its_task(words: str) -> None:
    (task,) = read_plan(f"- [ ] Sew\n  - {words}\n").tasks
    assert task.description == words and task.estimate_tokens is None


def test_cells_of_a_table_that_are_no_fields_are_text() -> None:
    head = "| Task | Status |\n|---|---|\n"
    plan = read_plan(f"{head}| Cut | waits for rain |\n| Sew | open | by hand |\n| | bow |\n")
    assert [task.description for task in plan.tasks] == ["Status: waits for rain", "by hand"]
    assert plan.description == "| | bow |"

"""A Markdown plan without checkboxes: its numbered or named items are the tasks."""

from __future__ import annotations

import pytest

from holdfast.plan.formats.read import read_plan
from holdfast.plan.formats.task_structure import mark_tasks
from holdfast.plan.task import NoTasks

NUMBERED = """# New sails

1. not in a section of tasks
2. neither

## Rules

- Keep it dry.

## Tasks

1. **Cut the canvas.** It takes a whole day and a dry floor; use the
   long table. Sweep it first.
2. Sew it. Depends on 1.
   - files: needle.py
3. Hoist it
"""
HEADINGS = """# New sails
Keep it dry.

## 1. Cut the canvas
Use the long table.

Files: `table.py`

```
## 9. no task
```

### Corners
1. three
2. more than three

## 2. Sew it
After 1.

## Risks
It may rain.
"""
BULLETS = """# New sails
## Todo
- **S1 \u2013 Cut the canvas.** Use the long table.
- **S2 \u2013 Sew it.** Depends on S1.
- S3: Hoist it
## Risks
- It may rain.
"""


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "titles", "note"),
    [
        (
            NUMBERED,
            [
                "Cut the canvas. It takes a whole day and a dry floor; use the long table.",
                "Sew it. Depends on 1.",
                "Hoist it",
            ],
            "3 numbered items",
        ),
        (HEADINGS, ["Cut the canvas", "Sew it"], "2 numbered headings"),
        (
            BULLETS,
            [
                "S1 \u2013 Cut the canvas. Use the long table.",
                "S2 \u2013 Sew it. Depends on S1.",
                "S3: Hoist it",
            ],
            "3 bullets with a title",
        ),
    ],
)
def test_items_that_can_only_be_tasks_are_taken_as_tasks(
    text: str, titles: list[str], note: str
) -> None:
    plan = read_plan(text)
    assert [task.title for task in plan.tasks] == titles
    assert plan.tasks[1].depends == (plan.tasks[0].id,)
    assert plan.notes[0].startswith(f"no `- [ ]` in the file: its {note}")
    assert plan == read_plan(text, "markdown")


def test_the_text_below_a_numbered_heading_is_the_tasks() -> None:
    plan = read_plan(HEADINGS)
    cut = plan.tasks[0]
    assert cut.files == ("table.py",)
    assert cut.description.startswith("Use the long table.\n```\n## 9. no task\n```\n### Corners")
    assert plan.description == "Keep it dry.\n## Risks\nIt may rain."


def test_numbered_items_below_phases_are_of_that_phase() -> None:
    text = "## Phase 1\n1. Cut\n2. Sew\n## Phase 2\n1. Hoist\n"
    assert [task.wave for task in read_plan(text).tasks] == [1, 1, 2]


def test_a_number_that_is_not_that_of_the_list_stays_in_the_title() -> None:
    plan = read_plan("## 4. Cut\n## 5. Sew\nNeeds 4.\n")
    assert [task.title for task in plan.tasks] == ["4. Cut", "5. Sew"]
    assert plan.tasks[1].depends == (plan.tasks[0].id,)


def test_checkboxes_are_the_only_tasks_if_there_are_any() -> None:
    plan = read_plan("1. one\n2. two\n\n- [ ] Sew\n")
    assert [task.title for task in plan.tasks] == ["Sew"] and not plan.notes


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# Sails\n- wet\n- dry\n## To do\n- Cut\n- Sew\n", ["Cut", "Sew"]),
        ("# S\n## Bow\n1. Cut\n2. Sew\n## Stern\n3. Hoist\n", ["Cut", "Sew", "Hoist"]),
        ("## Bow\n1. Cut\n## Stern\n1. Sew\n## Risks\n1. rain\n", ["Cut", "Sew"]),
        ("### Task 1\n\nCut it.\n\n### Task 2\nSew it.\n", ["Cut it.", "Sew it."]),
        ("### M1 \u2013 Bow\n1. Cut\n2. Sew\n### M2 \u2013 Stern\n3. Saw\n", ["Cut", "Sew", "Saw"]),
        ("## M1: Bow\nNo list.\n## M2: Stern\n", ["M1: Bow", "M2: Stern"]),
    ],
)
def test_plans_of_other_forms_are_read(text: str, titles: list[str]) -> None:
    assert [task.title for task in read_plan(text, "markdown").tasks] == titles


def test_boxes_below_the_heading_of_a_task_are_its_steps() -> None:
    text = "## Task 1: Cut\n- [x] left\n- [x] right\n## Task 2: Sew\n- [ ] seam\n- [x] hem\n"
    cut, sew = read_plan(text, "markdown").tasks
    assert cut.done and not sew.done
    assert [step.title for step in sew.subtasks] == ["seam", "hem"]


def test_a_bold_line_between_tasks_is_a_heading_and_no_text_of_a_task() -> None:
    wood = "# S\n**Phase 0: wood**\n- [ ] Cut\n\n**Phase 1: cloth**\n\n- [ ] Sew\n"
    text = f"{wood}\n**Mind the rain.**\n\n- [ ] Hoist\n"
    tasks = read_plan(text, "markdown").tasks
    assert [task.wave for task in tasks] == [0, 1, 1]
    assert [task.description for task in tasks] == ["", "", ""]
    assert [task.section for task in tasks] == ["Phase 0: wood", *["Phase 1: cloth"] * 2]


@pytest.mark.requirement("P3", "U3")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Sails\n## Ideas\n1. a\n2. b\n## Wishes\n1. c\n2. d\n", 3),
        ("# Sails\n- **A** is old\n- **B** is new\n## Ideas\n1. a\n2. b\n", 5),
        ("# Sails\nStep 1: Cut\nStep 2: Sew\n", 2),
    ],
)
def test_a_plan_with_two_lists_is_refused_with_the_likeliest_line(text: str, line: int) -> None:
    with pytest.raises(NoTasks) as error:
        read_plan(text, "markdown")
    assert error.value.place.line == line
    assert "`- [ ] Fix the parser`; indent the text below it" in error.value.hint


def test_bullets_that_are_the_only_list_are_tasks() -> None:
    """Under an underlined title and a plain word, as people write them."""
    bullets = "\n".join(f"* Look at sail {n}" for n in range(1, 7))
    marked, note = mark_tasks(f"Why is it slow\n==============\n\nTODO\n\n{bullets}\n")
    assert marked.count("[ ]") == 6 and "6 bullets were taken as tasks" in note
    assert mark_tasks("Some remarks:\n- wet\n- cold\n")[1] == ""
    assert mark_tasks(f"## Risks\n{bullets}\n")[1] == ""


def test_bullets_below_several_headings_are_tasks_whatever_the_title_asks() -> None:
    """A short line above a list is a heading; below that of the rules are no tasks."""
    plan = read_plan(
        "Why does it leak?\n=================\n\nRules\n\n* No paint\n* No tar\n\nHull\n\n"
        "* Caulk the keel\n* Sand the planks\n\nRig (once it is dry)\n\n"
        "* Sew the sail\n* Splice ropes\n* Hoist\n"
    )
    assert [task.title for task in plan.tasks] == [
        "Caulk the keel",
        "Sand the planks",
        "Sew the sail",
        "Splice ropes",
        "Hoist",
    ]
    assert plan.title == "Why does it leak?" and "\nRules\n" in f"\n{plan.description}"
    assert [task.section for task in plan.tasks][1:3] == ["Hull", "Rig (once it is dry)"]
    assert not any(task.description for task in plan.tasks)


def test_a_line_that_leads_a_list_belongs_to_it() -> None:
    """It was told to the session of the task above it, as if that had to do the next ones."""
    plan = read_plan(
        "# Leaks\n\n* Weigh it\n* Dry it\n\nOnce that is done, look at each on its own:\n\n"
        "* The keel\n* The bow\n* The deck\n"
    )
    assert not any(task.description for task in plan.tasks)
    assert [task.section for task in plan.tasks] == [
        *["", ""],
        *["Once that is done, look at each on its own"] * 3,
    ]
    steps = read_plan("## 1. Cut\n\nDo this:\n\n* a\n* b\n\n## 2. Sew\n\nb\n")
    assert steps.tasks[0].description.startswith("Do this:")


@pytest.mark.requirement("P3", "P5")
@pytest.mark.parametrize(
    "text",
    [
        "1. Cut\n2. [x] Ask Lena\n3. Sew\n",
        "### Task 1: Cut\n\n### [x] Task 2: Ask Lena\n\n### Task 3: Sew\n",
        "### Task 1: Cut\n\n### Task 2: [x] Ask Lena\n\n### Task 3: Sew\n",
        "### Step 1 \u2013 Cut\n\n### Step 2 \u2013 [x] Ask Lena\n\n### Step 3 \u2013 Sew\n",
        "- **T1: Cut**\n- [x] **T2: Ask Lena**\n- **T3: Sew**\n",
        "| # | Task |\n|--|--|\n| 1 | Cut |\n| 2 | [x] Ask Lena |\n| 3 | Sew |\n",
    ],
)
def test_a_tick_in_a_list_without_boxes_marks_one_task_as_done(text: str) -> None:
    plan = read_plan(text)
    assert [task.title.partition("Ask")[1] for task in plan.tasks] == ["", "Ask", ""]
    assert [task.done for task in plan.tasks] == [False, "[x]" in text, False]
    assert not plan.description


def test_paragraphs_with_a_bold_letter_are_tasks() -> None:
    text = "# Boat\n\nWhy?\n\n**A. Saw.** Planks.\n\n**B. Sew.** Needs A.\n\n**C.** Sail\n"
    plan = read_plan(text)
    assert [task.title[:2] for task in plan.tasks] == ["A.", "B.", "C."]
    assert plan.tasks[1].depends == (plan.tasks[0].id,)

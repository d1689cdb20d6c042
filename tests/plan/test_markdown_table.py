"""A plan as a table: one row is one task."""

from __future__ import annotations

import pytest

from holdfast.plan.formats.read import read_plan
from holdfast.plan.task import BadPlan

TABLE = """# Sails
Keep it dry.

| # | Task | Files | Depends on | Owner | Status |
|---|:-----|-------|------------|-------|--------|
| 1 | Cut `a|b` the canvas | `cut.py`, src/table.py | | Tom | done |
| 2 | **Sew** it \\| hem it | several | 1 | | open |
| 3 | Hoist it | - | 1, 2 | \u2014 | |

It may rain.
"""


@pytest.mark.requirement("P3")
def test_each_row_of_a_table_is_a_task_with_the_fields_of_its_columns() -> None:
    plan = read_plan(TABLE)
    cut, sew, hoist = plan.tasks
    assert plan.title == "Sails" and plan.description == "Keep it dry.\nIt may rain."
    assert (cut.files, cut.done, cut.description) == (
        ("cut.py", "src/table.py"),
        True,
        "Owner: Tom",
    )
    assert sew.title == "Sew it | hem it" and sew.description == "Files: several"
    assert sew.depends == (cut.id,) and hoist.depends == (cut.id, sew.id)
    assert not hoist.files and not sew.done
    assert plan.notes == ("no `- [ ]` in the file: the 3 rows of its table are the tasks",)


@pytest.mark.requirement("P3", "U3")
def test_a_mistake_in_a_table_is_named_by_its_line() -> None:
    with pytest.raises(BadPlan) as error:
        read_plan(TABLE.replace("1, 2", "nobody"))
    assert error.value.place.line == 8


@pytest.mark.parametrize(
    "text",
    [
        "| Name | Size |\n|---|---|\n| a | b |\n| c | d |\n",
        "| Task |\n|---|\n| a |\n",
        "| Task |\n|---|\n| a |\n| b |\n\n| Task |\n|---|\n| c |\n| d |\n",
    ],
)
def test_a_table_of_something_else_and_two_tables_are_refused(text: str) -> None:
    with pytest.raises(BadPlan):
        read_plan(text, "markdown")


def test_a_table_beside_boxes_is_text() -> None:
    text = "| Task |\n|---|\n| a |\n| b |\n\n- [ ] Cut it\n"
    assert [task.title for task in read_plan(text).tasks] == ["Cut it"]


def test_a_table_that_numbers_its_rows_is_a_plan_whatever_its_columns_are_called() -> None:
    """The titles are in the column with the most words. A row that has none there keeps its place:
    the others name it by its number."""
    plan = read_plan(
        "| # | Module | Test file | What to cover | Depends on |\n|--|--|--|--|--|\n"
        "| 1 | \u2013 | `tests/conftest.py` | Add a fixture for all boats | \u2013 |\n"
        "| 2 | `src/hull.py` | `tests/test_hull.py` | Cover the keel and the leaks | 1 |\n"
        "| 3 | `src/sail.py` | `tests/test_sail.py` | Cover wet and dry | 1, 2 |\n"
    )
    assert plan.tasks[0].title == "Add a fixture for all boats"
    assert plan.tasks[1].files == ("src/hull.py", "tests/test_hull.py")
    assert [len(task.depends) for task in plan.tasks] == [0, 1, 2]


def test_a_row_without_a_title_is_kept_if_it_says_what_to_do() -> None:
    plan = read_plan(
        "| # | Task | What | Depends on |\n|--|--|--|--|\n| 1 | - | Lay the keel | |\n"
        "| 2 | Sail | Sew it | 1 |\n| 3 | Rope | Splice it | 1 |\n"
    )
    assert [task.number for task in plan.tasks] == [1, 2, 3]
    assert plan.tasks[2].depends == (plan.tasks[0].id,)

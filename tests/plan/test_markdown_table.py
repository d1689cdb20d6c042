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

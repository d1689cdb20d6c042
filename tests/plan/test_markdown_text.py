"""Plans as people write them: the tasks that are read are those that a person sees."""

from __future__ import annotations

import pytest

from holdfast.plan.formats.markdown_text import normalize_markdown
from holdfast.plan.formats.read import read_plan
from holdfast.plan.task import TaskPlan

PLANS = {
    "underlined": "Boat\n====\n\nKeep it dry.\n\nWood\n----\n- [ ] Saw\n\nCloth\n---\n- [ ] Sew\n",
    "underlined numbers": "Boat\n====\n\n1. Saw\n------\ncarefully\n\n2. Sew\n------\ntwice\n",
    "front matter": "---\ntitle: Boat\nowner: Tom\n---\n\n1. Saw\n2. Sew\n",
    "front matter and title": "---\nowner: Tom\n---\n# Boat\n- [ ] Saw\n- [ ] Sew\n",
    "comment": "# Boat\n<!-- later\n- [ ] Dye\n1. Wax\n-->\n- [ ] Saw\n- [ ] Sew\n",
    "comment that never ends": "# Boat\n<!-- later\n- [ ] Saw\n- [ ] Sew\n",
    "code": "# Boat\n- [ ] Saw\n  ```\n  - [ ] Dye\n  ```\n- [ ] Sew\n\n~~~\nWax\n===\n~~~\n",
    "template in code": "# Boat\n```md\n- [ ] Dye\n```\n1. Saw\n2. Sew\n",
    "windows": "# Boat\r\n\r\n- [ ] Saw\r\n  - files: a.py\r\n- [ ] Sew\r\n",
    "tabs": "# Boat\n-\t[ ] Saw\n\t-\tfiles: a.py\n-\t[ ] Sew\n",
    "stars": "# Boat\n* [ ] Saw\n  + files: a.py\n+ [ ] Sew\n",
    "no blank in the box": "# Boat\n- [] Saw\n-[ ] Sew\n",
    "escaped box": "# Boat\n- \\[ ] Saw\n- \\[ \\] Sew\n",
    "begun and dropped": "# Boat\n- [~] Saw\n- [ ] Sew\n",
    "bullet signs": "# Boat\n## Tasks\n\u2022 Saw\n\u2022 Sew\n",
    "boxes in a numbered list": "# Boat\n1. Wood\n   - [ ] Saw\n2. Cloth\n   - [ ] Sew\n",
    "numbered boxes": "# Boat\n1. [ ] Saw\n   1. [ ] cut\n2. [ ] Sew\n",
    "letters": "# Boat\nA. Saw\nB. Sew\n",
    "letters in brackets": "# Boat\n\na) Saw\nb) Sew\n",
    "dotted numbers": "# Boat\n1.1 Saw\n1.2 Sew\n",
    "dotted headings": "# Boat\n### 1.1 Saw\noak\n### 1.2 Sew\ncanvas\n",
    "table without outer bars": "# Boat\n\nPrio | Task\n--- | ---\nhigh | Saw\nlow | Sew\n",
    "table from windows": "# Boat\r\n| Task | W |\r\n|---|---|\r\n| Saw | T |\r\n| Sew | A |\r\n",
    "table of steps": "# Boat\n| Step | Description |\n|---|---|\n| 1 | Saw |\n| 2 | Sew |\n",
    "short rows": "# Boat\n| Task | Who |\n|:--|--:|\n| Saw |\n| Sew | Ann | x |\n",
    "rule between": "# Boat\n\n- [ ] Saw\n\n---\n\n- [ ] Sew\n",
    "quoted": "# Boat\n> - [ ] Dye\n\n- [ ] Saw\n- [ ] Sew\n",
    "indented": "# Boat\n\n  - [ ] Saw\n  - [ ] Sew\n",
    "folded": "# Boat\n<details>\n<summary>Work</summary>\n\n- [ ] Saw\n- [ ] Sew\n</details>\n",
    "paragraphs": "# Boat\n1. Saw\n\n   Oak.\n\n   - or ash\n\n2. Sew\n",
}


def open_titles(plan: TaskPlan) -> list[str]:
    return [task.title for task in plan.tasks if not task.done]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("name", PLANS)
def test_the_tasks_are_those_that_a_person_sees(name: str) -> None:
    plan = read_plan(PLANS[name], "markdown")
    titles = [title.lstrip("AaBb12.) ") for title in open_titles(plan)]
    assert [title.partition(" ")[0] for title in titles] == ["Saw", "Sew"]
    assert plan.title == "Boat"


@pytest.mark.parametrize("name", PLANS)
def test_no_word_is_left_out_and_no_line_moves(name: str) -> None:
    text = PLANS[name].replace("\r\n", "\n")
    found = normalize_markdown(PLANS[name])
    assert found.count("\n") == text.count("\n")
    for before, after in zip(text.split("\n"), found.split("\n"), strict=True):
        words = [word for word in before.split() if word.isalpha()]
        assert all(word in after for word in words)


def test_underlined_titles_are_sections_and_waves() -> None:
    plan = read_plan("Boat\n====\n\nPhase 1: wood\n---\n- [ ] Saw\n\nPhase 2\n---\n- [ ] Sew\n")
    assert [(task.section, task.wave) for task in plan.tasks] == [
        ("Phase 1: wood", 1),
        ("Phase 2", 2),
    ]


def test_a_first_heading_that_only_names_a_section_is_not_the_title() -> None:
    plan = read_plan("## Wood\n- [ ] Saw\n## Cloth\n- [ ] Sew\n")
    assert not plan.title
    assert [task.section for task in plan.tasks] == ["Wood", "Cloth"]


def test_items_without_a_box_above_boxes_are_sections() -> None:
    plan = read_plan(PLANS["boxes in a numbered list"])
    assert [task.section for task in plan.tasks] == ["Wood", "Cloth"]


def test_dropped_work_is_done_and_begun_work_is_open() -> None:
    plan = read_plan("- [-] Dye\n- [\u2713] Wax\n- [~] Saw\n- [/] Sew\n", "markdown")
    assert open_titles(plan) == ["Saw", "Sew"]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("line", "files", "kept"),
    [
        ("- files: `a.py`, \"b c.py\", 'd.py' and e.py", ["a.py", "b c.py", "d.py", "e.py"], ""),
        ("- files: [a.py, b.py]", ["a.py", "b.py"], ""),
        ("- files: a.py; b.py.", ["a.py", "b.py"], ""),
        ("- files: src/a.py src/b.py", ["src/a.py", "src/b.py"], ""),
        ("- files: [a](src/a.py), app/(shop)/page.tsx", ["src/a.py", "app/(shop)/page.tsx"], ""),
        ("- files: a.py (the reader), b.py", ["a.py", "b.py"], "the reader"),
    ],
)
def test_files_are_read_without_the_words_around_them_which_stay_in_the_description(
    line: str, files: list[str], kept: str
) -> None:
    task = read_plan(f"- [ ] Saw\n  {line}\n- [ ] Sew\n").tasks[0]
    assert list(task.files) == files
    assert kept in task.description and bool(task.description) == bool(kept)

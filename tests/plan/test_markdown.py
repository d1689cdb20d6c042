"""Markdown task lists are read as the page documents them; any other document is refused."""

from textwrap import dedent

import pytest

from holdfast.plan.load import read_plan
from holdfast.plan.task import BadPlan, PlanTask, TaskPlan


def _read(text: str) -> TaskPlan:
    return read_plan(dedent(text).lstrip("\n"), ".md")


def _one(text: str) -> PlanTask:
    [task] = _read(text).tasks
    return task


@pytest.mark.requirement("P3")
def test_a_task_has_the_fields_that_are_indented_below_it() -> None:
    _, task = _read("""
        - [x] T1 Set up
        - [ ] T2 Write the cart
          files: cart.py, `src/price.py`
          depends: T1
          size: 12k
          phase: 2
          split: no
          Keep the old prices.
        """).tasks
    assert (task.id, task.title, task.description) == (
        *("T2", "Write the cart"),
        "Keep the old prices.",
    )
    assert (task.files, task.depends) == (("cart.py", "src/price.py"), ("T1",))
    assert (task.size_tokens, task.phase, task.whole, task.done) == (12_000, 2, True, False)


@pytest.mark.requirement("P3")
def test_fields_may_be_bullets_and_a_list_goes_on_after_a_comma() -> None:
    task = _one("""
        - [ ] Write the cart

          - files: cart.py,
            price.py
          - size: 1.5k
        """)
    assert (task.files, task.size_tokens, task.description) == (("cart.py", "price.py"), 1_500, "")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("line", "name", "title", "parallel"),
    [
        ("- [ ] T013 Sail", "T013", "Sail", False),
        ("- [ ] T013 [P] [US1] Sail in src/a.py", "T013", "[US1] Sail in src/a.py", True),
        ("- [ ] API-4: Sail", "API-4", "Sail", False),
        ("- [ ] P3 [P] Sail", "p3-sail", "P3 Sail", True),
    ],
)
def test_ids_and_marks_are_read_as_documented(
    line: str, name: str, title: str, parallel: bool
) -> None:
    task = _one(line)
    assert (task.id, task.title, task.parallel) == (name, title, parallel)


@pytest.mark.requirement("P3")
def test_boxes_below_a_task_are_its_subtasks() -> None:
    task = _one("""
        - [ ] Rig the ship
          - [x] Mast
          - [ ] Sails
            files: sail.py
            - [ ] a line of that
        """)
    mast, sails = task.subtasks
    assert (mast.done, sails.id, sails.files) == (True, "rig-the-ship/sails", ("sail.py",))
    assert sails.description == "- [ ] a line of that"
    assert task.files == ()


@pytest.mark.requirement("P3")
def test_code_quotations_and_comments_are_never_read() -> None:
    text = """
        - [ ] Sail
          ```
          files: res.json
          - [ ] no task
          ```

        ```
        - [ ] no task
        ```

        > - [ ] no task either

        <!--
        - [ ] nor this
        -->
        """
    task = _one(text)
    assert task.files == ()
    assert "res.json" in task.description


@pytest.mark.requirement("P3")
def test_nothing_is_guessed_from_words() -> None:
    """Neither an order, nor a file, nor a phase."""
    text = """
        ## Phase 2: do this last
        - [ ] T1 Sail after T2, see `a.go`
        ## Phase 1
        - [ ] T2 Rig; depends on nothing
          **Files:** `b.go`
        """
    first, second = _read(text).tasks
    assert [first.id, second.id] == ["T1", "T2"]
    assert not (first.depends or first.files or second.files)
    assert (first.phase, second.phase) == (None, None)


@pytest.mark.requirement("P3")
def test_text_outside_tasks_is_context_and_a_task_knows_its_headings() -> None:
    plan = _read("""
        ---
        created: today
        ---
        # Shop

        Use British English.

        ## Cart
        - [ ] One

        ### Prices
        - [ ] Two

        ## Notes
        Ask Lena.
        """)
    assert plan.title == "Shop"
    assert plan.description == "Use British English.\n\n## Notes\nAsk Lena."
    assert [task.section for task in plan.tasks] == ["Cart", "Cart > Prices"]


@pytest.mark.requirement("P3")
def test_a_field_that_belongs_to_no_task_is_a_note_unless_it_is_code() -> None:
    plan = _read("""
        - [ ] Sail

        files: a.py

        ```
        depends: T1
        ```

        ~~~
        files: b.py
        ~~~
        """)
    [note] = plan.notes
    assert note.startswith("line 3: `files:` is read as text")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("name", ["2", "write the docs", "Write"])
def test_a_dependency_is_named_by_id_title_or_first_word(name: str) -> None:
    text = f"- [ ] Ship\n  depends: {name}\n- [ ] 2. Write the docs\n- [ ] Ship it\n"
    assert [task.depends for task in _read(text).tasks] == [("2",), (), ()]


@pytest.mark.requirement("P3")
def test_a_first_word_of_two_titles_names_neither() -> None:
    with pytest.raises(BadPlan, match="names no task, or several"):
        _read("- [ ] Ship one\n- [ ] Ship two\n- [ ] Rest\n  depends: ship\n")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "- [ ] T1 a\n- [ ] T2 b\n  depends: T3\n",
            r"^plan: 2 'b' depends on 'T3', which names no task",
        ),
        ("- [ ] T1 a\n  depends: T2\n- [ ] T2 b\n  depends: T1\n", r"T1 → T2 → T1 \(T2 in line 3"),
        ("- [ ] T1 a\n- [ ] T1 b\n", "^plan: 2 two tasks have the id 'T1'; the first is in line 1"),
        ("- [ ] a\n\n- [ ] b\n  size: large\n", "^plan: 3 size must be a number of tokens"),
        ("- [ ] a\n  - [ ] b\n    depends: a\n", "^plan: 2 a subtask has no `depends`"),
        (
            "- [ ] T1 a\n  phase: 1\n  depends: T2\n- [ ] T2 b\n  phase: 2\n",
            "'a' depends on 'T2', which is in a later phase",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(BadPlan) as error:
        _read(text)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(f"plan: {error.value.line} {error.value}")


DESIGN = """
# Design
## Overview
Words.
## Storage
Words.
## Verification
- [ ] Look at it
- [ ] Look again
"""


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DESIGN, "only 1 of its 3 sections holds a task"),
        ("# Lessons\n\n1. Test first\n2. Ask\n", "no task in it"),
        ("Some words.\n\n## A\n- [ ] a\n## B\nb\n## C\nc\n", "only 1 of its 3"),
    ],
)
def test_a_document_that_is_no_plan_is_refused_with_the_way_on(text: str, words: str) -> None:
    with pytest.raises(BadPlan, match=words) as error:
        _read(text)
    assert error.value.exit_code == 2
    assert "/holdfast:plan docs/design.md" in error.value.named("docs/design.md").hint


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("heading", ["## Tasks", "# Tasks: the shop", "### tasks"])
def test_below_a_heading_tasks_only_its_boxes_are_read(heading: str) -> None:
    level = heading.partition(" ")[0]
    text = f"{DESIGN}\n{heading}\n\n- [ ] T1 Build it\n\n{level} Notes\n- [ ] not this\n"
    [task] = _read(text).tasks
    assert task.id == "T1"

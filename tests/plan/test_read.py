"""A plan is read from JSON, YAML or markdown, and what is wrong in it is named by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.formats.fields import parse_tokens
from holdfast.plan.formats.read import load_plan, read_plan
from holdfast.plan.task import BadPlan, DependencyCycle, TaskPlan

MARKDOWN = """# Ship it

Some prose - [ ] not a task.

- [x] Set up
- [ ] Write the lexer
  - files: src/lex.py, `src/tok.py`
  - estimate: 12k tokens
- [ ] Write the parser
  - depends: Write the lexer, set-up
  - id: parser
  - keep together
  - group: a.py, b.py
  It takes words as well.
  - [x] grammar
  - [ ] errors

```
- [ ] an example, not a task
```
"""
YAML = """
title: Ship it
description: "Some prose - [ ] not a task.\\n```\\n- [ ] an example, not a task\\n```"
tasks:
  - {title: Set up, done: true}
  - title: Write the lexer
    files: [src/lex.py, src/tok.py]
    estimate_tokens: 12000
  - id: parser
    title: Write the parser
    description: It takes words as well.
    depends_on: [write-the-lexer, set-up]
    keep_together: yes
    groups: [[a.py, b.py]]
    subtasks: [{title: grammar, done: true}, errors]
"""
SAME_AS_JSON = {
    "version": 1,
    "title": "Ship it",
    "description": "Some prose - [ ] not a task.\n```\n- [ ] an example, not a task\n```",
    "tasks": [
        {"title": "Set up", "done": True},
        {
            "title": "Write the lexer",
            "files": ["src/lex.py", "./src/tok.py"],
            "estimate_tokens": 12000,
        },
        {
            "id": "parser",
            "title": "Write the parser",
            "description": "It takes words as well.",
            "depends": ["write-the-lexer", "set-up"],
            "keep_together": True,
            "groups": [["a.py", "b.py"]],
            "subtasks": [{"title": "grammar", "done": True}, "errors"],
        },
    ],
}


@pytest.mark.requirement("P3")
def test_the_three_ways_to_write_a_plan_say_the_same() -> None:
    plans = [read_plan(MARKDOWN), read_plan(YAML), read_plan(json.dumps(SAME_AS_JSON))]
    assert plans[0] == plans[1] == plans[2]
    setup, lexer, parser = plans[0].tasks
    assert setup.done and not lexer.done
    assert lexer.estimate_tokens == 12_000
    assert parser.depends == ("write-the-lexer", "set-up")
    assert [step.id for step in parser.subtasks] == ["parser/grammar", "parser/errors"]
    assert parser.subtasks[1].depends == ("parser/grammar",)


@pytest.mark.parametrize(
    ("text", "kind", "place", "words"),
    [
        ('{"tasks": [{"title": "a", "title": "b"}]}', "json", "1:27", "is there twice"),
        ('{"tasks": [{"title": "a", "estimate_tokens": NaN}]}', "json", "0", "NaN"),
        ('{"tasks": [{"title": "a", "estimate_tokens": -5}]}', "json", "1:46", "at least 1"),
        ("tasks:\n- title: a\n---\n- b", "yaml", "3:1", "a second document"),
        ("tasks:\n- id: 'a b'\n  title: c", "yaml", "2:7", "an id has letters"),
        ("tasks:\n- files: [a]", "yaml", "2:3", "without a title"),
        ("- [ ] a\n  - id: a\n  - id: b\n", "markdown", "3", "stands twice"),
        ("- title: a\n  subtasks: [{title: b, subtasks: [c]}]", "yaml", "2:35", "no subtasks"),
    ],
)
@pytest.mark.requirement("P3")
def test_a_mistake_is_named_with_its_place(text: str, kind: str, place: str, words: str) -> None:
    with pytest.raises(BadPlan) as error:
        read_plan(text, kind)
    assert words in str(error.value)
    assert str(error.value.place) == place
    assert error.value.exit_code == 2


@pytest.mark.requirement("P3")
def test_a_circle_is_named_in_full() -> None:
    text = "- [ ] a\n  - depends: b\n- [ ] b\n  - depends: c\n- [ ] c\n  - depends: a\n- [ ] d\n"
    with pytest.raises(DependencyCycle, match="a → b → c → a"):
        read_plan(text)
    with pytest.raises(DependencyCycle, match="a → a"):
        read_plan("- [ ] a\n  - depends: a\n")


@pytest.mark.requirement("P3")
def test_a_misspelled_dependency_is_answered_with_the_nearest_task() -> None:
    with pytest.raises(BadPlan, match="did you mean 'write-tests'"):
        read_plan(
            '[{"id": "write-tests", "title": "t"}, {"title": "b", "depends": ["write-test"]}]'
        )


@pytest.mark.parametrize("text", ["", "  \n", "{}", "[]", "tasks: []", "just words"])
def test_an_empty_plan_is_refused(text: str) -> None:
    with pytest.raises(BadPlan):
        read_plan(text)


def test_the_file_stands_before_the_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("tasks:\n- title: a\n  wen: b\n", encoding="utf-8")
    with pytest.raises(BadPlan, match=r"/odd\.yaml:3:8: a task has no 'wen'"):
        load_plan(path)


def test_a_file_without_a_known_suffix_is_recognised_by_what_it_holds(tmp_path: Path) -> None:
    numbered = MARKDOWN.replace("- [", "1. [")
    for text in (MARKDOWN, numbered, YAML, json.dumps(SAME_AS_JSON)):
        path = tmp_path / "PLAN"
        path.write_text(text, encoding="utf-8")
        assert len(load_plan(path).tasks) == 3


def test_two_tasks_of_one_title_have_two_ids() -> None:
    plan = read_plan("- [ ] Add tests\n- [ ] Add tests\n- [ ] x\n  - id: add-tests-2\n")
    assert [task.id for task in plan.tasks] == ["add-tests", "add-tests-3", "add-tests-2"]


TITLES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(
    lambda title: title.strip() == title and title.strip()
)


@pytest.mark.slow
@given(st.lists(TITLES, min_size=1, max_size=6))
def test_any_titles_at_all_are_kept_as_they_are(titles: list[str]) -> None:
    plan = read_plan(json.dumps([{"title": title} for title in titles]), "json")
    assert [task.title for task in plan.tasks] == titles
    assert len({task.id for task in plan.tasks}) == len(titles)


@given(st.text(max_size=200), st.sampled_from(["json", "yaml", "markdown"]))
def test_any_text_is_a_plan_or_refused_in_words(text: str, kind: str) -> None:
    try:
        assert isinstance(read_plan(text, kind), TaskPlan)
    except BadPlan as error:
        assert str(error)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("fils: a.py", "files"),
        ("File: a.py", "files"),
        ("flies: a.py", "files"),
        ("deps: set-up", "depends"),
        ("dependencies: set-up", "depends"),
        ("estimates: 12k", "estimate"),
    ],
)
def test_a_field_that_is_nearly_one_is_a_mistake_with_the_one_that_was_meant(
    written: str, meant: str
) -> None:
    with pytest.raises(BadPlan, match=f"did you mean '{meant}'") as error:
        read_plan(f"- [ ] Write it\n  - {written}\n")
    assert error.value.place.line == 2


@pytest.mark.parametrize(
    "words", ["Fixes: #12", "Note: at once", "fields: a, b", "see https://example.org", "tiles: 3"]
)
def test_other_words_with_a_colon_are_the_description(words: str) -> None:
    [task] = read_plan(f"- [ ] Write it\n  - {words}\n").tasks
    assert task.description == words


def test_a_field_of_several_words_may_be_joined_in_any_way() -> None:
    for name in ("depends on", "depends_on", "depends-on", "Depends On"):
        one, two = read_plan(f"- [ ] one\n- [ ] two\n  - {name}: one\n").tasks
        assert two.depends == (one.id,)


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("12000", 12_000),
        ("12,000 tokens", 12_000),
        ("12k", 12_000),
        ("1M", 1_000_000),
        ("1.5m", 1_500_000),
        ("2.05 k", 2_050),
    ],
)
def test_tokens_are_read_as_people_write_them(written: str, meant: int | None) -> None:
    assert parse_tokens(written) == meant


@pytest.mark.requirement("P3")
def test_a_code_block_beneath_a_task_is_part_of_what_it_asks() -> None:
    block = "  ```python\n  - [ ] no task\n    files: x\n  # no title\n\n  ```\n"
    task, other = read_plan(f"- [ ] a\n  Write:\n{block}  and stop\n- [ ] b\n").tasks
    lines = ["Write:", "```python", "- [ ] no task", "  files: x", "# no title", "", "```"]
    assert task.description.split("\n") == [*lines, "and stop"]
    assert task.files == other.files == ()
    assert task.hash != read_plan("- [ ] a\n  Write:\n  and stop\n").tasks[0].hash


@pytest.mark.requirement("P3")
def test_a_code_block_at_the_left_is_prose() -> None:
    [task] = read_plan("- [ ] a\n\n```\n- [ ] an example\n```\n\nUse ``` as you like.\n").tasks
    assert task.description == ""


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("more", ["", "with a description"])
def test_a_title_too_long_for_one_is_kept_whole_in_the_description(more: str) -> None:
    title = "all that is to be done " * 100 + "and the end"
    [task] = read_plan(json.dumps([{"title": title, "description": more}])).tasks
    assert len(task.title) <= 1000
    assert task.description == f"{title}\n{more}".rstrip()
    [same] = read_plan(json.dumps([{"description": title}])).tasks
    assert same.description == title


@pytest.mark.requirement("P2")
def test_a_file_has_one_name_and_those_of_a_group_are_the_tasks() -> None:
    [task] = read_plan("- [ ] a\n  - files: ./x.py, y//z.py\n  - group: y/../x.py, w.py\n").tasks
    assert task.files == ("x.py", "y/z.py", "w.py")
    assert task.groups == (("x.py", "w.py"),)


@pytest.mark.requirement("X4")
def test_no_secret_of_a_title_is_in_an_id() -> None:
    secret = "ghp_" + "a1b2c3d4e5" * 3 + "a1b2c3"
    [task] = read_plan(f"- [ ] Use {secret} there\n").tasks
    assert "a1b2" not in task.id
    assert secret in task.title


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "depends",
    [
        "Fix the parser, lexer and tokens, Write the docs",
        '"Fix the parser, lexer and tokens", `Write the docs`',
        "1, 2",
        "#2, task 1",
        "T2, fix-the-parser-lexer-and-tokens",
        "\n    - Fix the parser, lexer and tokens\n    - **T2: Write the docs**",
    ],
)
def test_a_dependency_is_named_as_people_write_it(depends: str) -> None:
    depends = (
        depends.replace("Write the docs", "T2: Write the docs") if "T2" not in depends else depends
    )
    text = f"""
1. [ ] Fix the parser, lexer and tokens
2. [ ] T2: Write the docs
3. [ ] Ship it
  - depends: {depends}
"""
    found = read_plan(text).tasks[2].depends
    assert sorted(found) == ["fix-the-parser-lexer-and-tokens", "t2-write-the-docs"]


@pytest.mark.requirement("P3")
def test_a_title_may_be_named_without_its_number() -> None:
    text = """
- [ ] 3. Fix the parser, lexer and tokens
- [ ] 7. Write the docs
- [ ] 8. Ship it
  - depends: Fix the parser, lexer and tokens, 7 & 3
"""
    found = read_plan(text).tasks[2].depends
    assert found == ("3-fix-the-parser-lexer-and-tokens", "7-write-the-docs")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("depends", ["2-1", "1-9", "1 and the rest", "Ship-it to the end"])
def test_a_range_of_something_else_is_refused(depends: str) -> None:
    with pytest.raises(BadPlan) as error:
        read_plan(f"- [ ] a\n- [ ] b\n- [ ] c\n  - depends: {depends}\n")
    assert "`2-5` or `all above`" in error.value.hint


@pytest.mark.slow
@pytest.mark.requirement("P3", "X4")
def test_short_ranges_cannot_stand_for_millions_of_dependencies() -> None:
    tasks = "".join(f"- [ ] task {n}\n  - depends: all above\n" for n in range(1, 1000))
    with pytest.raises(BadPlan) as error:
        read_plan(f"- [ ] first\n{tasks}")
    assert "## Wave 2" in error.value.hint


@pytest.mark.requirement("P3")
def test_files_are_listed_as_people_write_them() -> None:
    text = """
- [ ] Move it
  - **Files:** `src/__init__.py`, "a, b.py", tests/**
  - files:
    - c/[id].ts
    - d.py
  - some words, with a comma
  - estimate: ~12k tokens
"""
    [task] = read_plan(text).tasks
    assert task.files == ("src/__init__.py", "a, b.py", "tests/**", "c/[id].ts", "d.py")
    assert task.description == "some words, with a comma"
    assert task.estimate_tokens == 12_000


@pytest.mark.requirement("P3")
def test_boxes_beneath_a_subtask_are_part_of_it() -> None:
    text = """
- [ ] Ship
  - [ ] Build
    - [ ] the hull
      - files: hull.py
    - [x] the keel
    - files: mast.py
  - [ ] Sail
"""
    [task] = read_plan(text).tasks
    build, sail = task.subtasks
    assert build.description == "- the hull\n- the keel (done)"
    assert build.files == ("hull.py", "mast.py") and sail.title == "Sail"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("text", ["tasks: [{title: a, estimate: 12k}]", '["a", {"title": "b"}]'])
def test_numbers_are_read_in_every_format(text: str) -> None:
    assert read_plan(text).tasks[0].estimate_tokens in (12_000, None)


@pytest.mark.requirement("U3")
def test_every_refusal_says_what_to_write_and_names_no_page() -> None:
    texts = ["a: b", "{", "- title: [", "- {id: a, title: b}\n- {id: a, title: c}", "version: 3"]
    texts += ["- [ ] a\n  - depends: b", "- [ ] a\n  - estimate: b", "- [ ] a\n  - fils: b", "*a"]
    texts += [
        "- {title: a, files: {b: c}}",
        "- {title: a, done: soon}",
        "tasks: a",
        "- [ ] a\n  ```",
    ]
    for text in texts:
        with pytest.raises(BadPlan) as error:
            read_plan(text)
        assert error.value.hint not in ("", BadPlan.hint), text
        assert "docs/" not in error.value.hint


@pytest.mark.requirement("P1")
def test_tasks_below_a_numbered_heading_are_of_that_wave() -> None:
    text = """# Plan
- [ ] a
## Wave 1: look
- [ ] b
### Rigging
- [ ] c
  - [ ] step
## Phase 2
- [ ] d
## Wavelengths 3
- [ ] e
"""
    plan = read_plan(text)
    assert [task.wave for task in plan.tasks] == [None, 1, 1, 2, None]
    assert plan.tasks[2].subtasks[0].wave is None
    assert read_plan('[{"title": "a", "wave": 2}]').tasks[0].wave == 2


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("brackets", "waits_for"),
    [
        ("(after T1)", [0]),
        ("(depends on T1).", [0]),
        ("(needs 2)", [1]),
        ("(requires #1, 2)", [0, 1]),
        ("(after T1 and T2)", [0, 1]),
        ("(needs 3)", []),
    ],
)
def test_words_of_a_title_that_name_tasks_are_dependencies(
    brackets: str, waits_for: list[int]
) -> None:
    title = f"T3: Sew it {brackets}"
    plan = read_plan(f"- [ ] T1: Cut the sail\n- [ ] T2: Wax the thread\n- [ ] {title}\n")
    assert plan.tasks[2].depends == tuple(plan.tasks[at].id for at in waits_for)
    assert plan.tasks[2].title == title


def test_a_numbered_heading_is_not_the_title_of_the_plan() -> None:
    tasks = "## Phase 1: cut\n- [ ] a\n## Phase 2: sew\nKeep it dry.\n- [ ] b\n"
    assert read_plan(tasks).title == ""
    assert read_plan(tasks).description == "## Phase 2: sew\nKeep it dry."
    assert read_plan(f"# New sails\n{tasks}").title == "New sails"


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("context: dry\ntasks: [a]", "write `description` instead"),
        ("titel: dry\ntasks: [a]", "write `title` instead"),
        ("tasks: [{title: a, deps: [b]}]", "write `depends` instead"),
        ("tasks: [{title: a, steps: [b]}]", "write `subtasks` instead"),
        ("colour: red\ntasks: [a]", "a plan may have: version, title, description, tasks"),
    ],
)
def test_a_field_that_a_plan_does_not_have_is_answered_with_the_one_to_write(
    text: str, write: str
) -> None:
    with pytest.raises(BadPlan) as error:
        read_plan(text, "yaml")
    assert error.value.hint.startswith(write)


@pytest.mark.requirement("P3")
def test_a_title_may_be_named_without_its_brackets() -> None:
    text = "- [ ] Cut\n- [ ] T2: Sew (after Cut)\n- [ ] Hoist\n  - depends: Sew\n  - after: Cut\n"
    cut, sew, hoist = read_plan(text).tasks
    assert (sew.depends, hoist.depends) == ((cut.id,), (sew.id, cut.id))


@pytest.mark.requirement("P3")
def test_brackets_of_a_step_are_not_read_as_its_siblings() -> None:
    [task] = read_plan("- [ ] Sail\n  - [ ] Cut (needs 2)\n  - [ ] Sew\n").tasks
    assert [step.depends for step in task.subtasks] == [(), ("sail/cut-needs-2",)]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "name",
    [
        "blocked by",
        "Blocked-by",
        "needs",
        "waits for",
        "prerequisite",
        "prereq",
    ],
)
def test_other_words_for_a_dependency_are_read_as_one(name: str) -> None:
    one, two = read_plan(f"- [ ] one\n- [ ] two\n  - {name}: one\n").tasks
    assert (two.depends, two.description) == ((one.id,), "")
    field = name.lower().replace(" ", "_").replace("-", "_")
    assert read_plan(f"- one\n- {{title: two, {field}: one}}", "yaml").tasks[1].depends == ("one",)


@pytest.mark.requirement("P3")
def test_bullets_that_are_nothing_but_paths_are_files() -> None:
    text = """
- [ ] Sew it
  with care
  - web/src/Sail.svelte
  - `hull/mast/`, hull/**/*.py
  - and/or
  - see hull/keel.py
  - hull/keel.py
    - hull/nested.py
  hull/prose.py
  - Do not change:
  - hull/boom.py
"""
    [task] = read_plan(text).tasks
    assert task.files == ("web/src/Sail.svelte", "hull/mast", "hull/**/*.py", "hull/keel.py")
    words = ["with care", "and/or", "see hull/keel.py", "hull/nested.py", "hull/prose.py"]
    assert task.description.split("\n") == [*words, "Do not change:", "hull/boom.py"]


@pytest.mark.requirement("P3")
def test_text_at_the_left_between_two_tasks_belongs_to_the_upper_one() -> None:
    text = """# Sails
Keep everything dry.

- [ ] Cut

It has three corners.
Files: `sail.py`

```
a plan of it
```
- [ ] Sew
with thin thread

## Phase 2
Work at night.
- [ ] Hoist

Then go home.

## Rules
- Whisper.
"""
    plan = read_plan(text)
    cut, sew, hoist = plan.tasks
    assert cut.description == "It has three corners.\n```\na plan of it\n```"
    assert cut.files == ("sail.py",)
    assert (sew.description, hoist.description) == ("with thin thread", "")
    own = "Keep everything dry.\n## Phase 2\nWork at night.\nThen go home.\n## Rules\n- Whisper."
    assert plan.description == own


@pytest.mark.requirement("P3")
def test_a_title_goes_on_to_the_end_of_its_sentence() -> None:
    first = "- [ ] 4. **Measure the mast** before anything else is done, and write down every"
    text = (
        f"{first}\n  height that differs\n  from the plan. Use the long rule.\n- [ ] Sew\n  well\n"
    )
    measure, sew = read_plan(text).tasks
    joined = "and write down every height that differs from the plan."
    assert measure.title == f"4. Measure the mast before anything else is done, {joined}"
    assert measure.description == "Use the long rule."
    assert (sew.title, sew.description) == ("Sew", "well")


def test_marks_for_bold_words_are_no_part_of_a_title_but_those_of_patterns_are() -> None:
    text = "- [ ] **Sew** the `sails/**/*.py` and hull/** **now**\n"
    assert read_plan(text).tasks[0].title == "Sew the `sails/**/*.py` and hull/** now"

"""JSON and YAML plans have the same fields as Markdown, and are read strictly."""

import json
from pathlib import Path

import pytest

from holdfast.plan.load import MOST_BYTES, decode_plan, load_plan, read_plan
from holdfast.plan.task import BadPlan

YAML = """
title: Shop
description: Use British English.
tasks:
  - id: T1
    title: "Fix: the parser"
    files: [a.py, "b, c.py"]
    size: 12k
    phase: 1
    parallel: yes
  - title: Write the docs
    depends: T1
    split: no
    subtasks:
      - Reference
      - title: Tutorial
        done: true
"""
SAME = {
    "title": "Shop",
    "description": "Use British English.",
    "tasks": [
        {
            "id": "T1",
            "title": "Fix: the parser",
            "files": ["a.py", "b, c.py"],
            "size": 12000,
            "phase": 1,
            "parallel": True,
        },
        {
            "title": "Write the docs",
            "depends": ["T1"],
            "split": False,
            "subtasks": ["Reference", {"title": "Tutorial", "done": True}],
        },
    ],
}


@pytest.mark.requirement("P3")
def test_yaml_and_json_say_the_same() -> None:
    plan = read_plan(YAML, ".yaml")
    assert plan == read_plan(json.dumps(SAME, indent=1), ".json")
    first, second = plan.tasks
    assert (plan.title, plan.description) == ("Shop", "Use British English.")
    assert (first.files, first.size_tokens, first.parallel) == (("a.py", "b, c.py"), 12_000, True)
    assert (second.depends, second.whole, second.phase) == (("T1",), True, 1)
    assert [(step.id, step.done) for step in second.subtasks] == [
        ("write-the-docs/reference", False),
        ("write-the-docs/tutorial", True),
    ]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("text", [YAML, json.dumps(SAME), '["Fix the parser"]', "- [ ] Fix it\n"])
def test_on_stdin_the_notation_is_seen(text: str) -> None:
    assert decode_plan(text.encode()).tasks


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "suffix", "line", "words"),
    [
        ('{"tasks": [\n}', ".json", 2, "not JSON"),
        ('[{"title": "a",\n"depends": ["b"]}]', ".json", 1, "depends on 'b'"),
        ('[{"title": "a {\\"}"},\n{"title": "b", "depend": "a"}]', ".json", 2, "no field 'depend'"),
        ("tasks:\n- title: a\n- titel: b\n", ".yaml", 3, "no field 'titel'"),
        ("tasks:\n- title: a\n  title: b\n", ".yaml", 2, "'title' is there twice"),
        ("tasks: [a\n", ".yaml", 2, "not YAML"),
        ("tasks: [a]\n---\ntasks: [b]\n", ".yaml", 2, "a second document"),
        ("version: 9\ntasks: [a]\n", ".yaml", 0, "version"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, suffix: str, line: int, words: str) -> None:
    with pytest.raises(BadPlan, match=words) as error:
        read_plan(text, suffix)
    assert error.value.line == line


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("text", "suffix"),
    [('{"name": "shop", "scripts": {}}', ".json"), ("openapi: 3.0.0\n", ".yaml"), ("7", ".json")],
)
def test_data_without_tasks_is_no_plan(text: str, suffix: str) -> None:
    with pytest.raises(BadPlan, match="no list `tasks`"):
        read_plan(text, suffix)


BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("text", "suffix", "words"),
    [
        (BOMB, ".yaml", "an alias"),
        ("[" * 100_000, ".json", "too deep"),
        ("- " * 100_000, ".yaml", "too deep"),
        ("? [a]\n: b", ".yaml", "a plain word"),
        (json.dumps([{"title": "a", "files": [str(n) for n in range(3000)]}]), ".json", "2,000"),
        ("- [ ] a\n" * 20_001, ".md", "20,000"),
    ],
)
def test_a_hostile_plan_is_refused_in_words(text: str, suffix: str, words: str) -> None:
    with pytest.raises(BadPlan, match=words):
        read_plan(text, suffix)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'["a",\n"\0"]', "plan.json:2: a NUL byte"),
        (b'["a",\n"\xff"]', "plan.json:2: not UTF-8"),
        (b" " * (MOST_BYTES + 1), "larger than 8 MB"),
        (b"", "is empty"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(data)
    with pytest.raises(BadPlan, match=words):
        load_plan(path)
    assert path.read_bytes() == data

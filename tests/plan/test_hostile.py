"""Plans nobody should write: each is refused in words, or read in bounded time and memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.plan.formats.fields import TaskIds
from holdfast.plan.formats.read import MOST_BYTES, load_plan, read_plan
from holdfast.plan.task import BadPlan, PlanPosition

BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (BOMB, "yaml", "an alias"),
        ("tasks: !!python/object/apply:os.system ['true']", "yaml", "a tag"),
        ("tasks:\n- title: !secret a", "yaml", "a tag"),
        ("[" * 100_000, "json", "too deep"),
        ("[" * 500 + "]" * 500, "json", "more than 12 deep"),
        ("[" * 100_000, "yaml", "12 deep"),
        ("- " * 100_000, "yaml", "12 deep"),
        ('[{"title": "a", "estimate_tokens": ' + "9" * 6000 + "}]", "json", "30 digits"),
        ("? [a]\n: b", "yaml", "a plain word"),
        (json.dumps([{"title": "a", "files": [str(n) for n in range(3000)]}]), "json", "2,000"),
        (json.dumps(["a"] * 20_001), "json", "20,000"),
    ],
)
def test_a_hostile_plan_is_refused_in_words(text: str, kind: str, words: str) -> None:
    with pytest.raises(BadPlan, match=words):
        read_plan(text, kind)


@pytest.mark.nightly
@pytest.mark.requirement("X7")
def test_ten_thousand_tasks_are_read() -> None:
    tasks = [
        {"id": f"t{n}", "title": "t", "depends": [f"t{n - 1}"] if n else []} for n in range(10_000)
    ]
    assert len(read_plan(json.dumps(tasks)).tasks) == 10_000
    assert len(read_plan("\n".join(f"- [ ] task {n}" for n in range(10_000))).tasks) == 10_000


class _Counting(dict[str, PlanPosition]):
    looks = 0

    def __contains__(self, name: object) -> bool:
        self.looks += 1
        return super().__contains__(name)


@pytest.mark.requirement("X7")
def test_one_title_many_times_is_not_counted_up_from_one_each_time() -> None:
    ids = TaskIds([])
    ids.taken = taken = _Counting()
    assert [ids.made("Do it") for _ in range(1_000)][-1] == "do-it-1000"
    assert taken.looks < 3_000


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


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    for name, words in (
        ("pipe.md", "not a plain file"),
        ("gone.md", "no such"),
        (".", "not a plain"),
    ):
        with pytest.raises(BadPlan, match=words):
            load_plan(tmp_path / name)


def test_control_characters_of_a_plan_never_reach_the_terminal() -> None:
    with pytest.raises(BadPlan) as error:
        read_plan(json.dumps([{"title": "a", "depends": ["\x1b[2J"]}]))
    assert "\x1b" not in str(error.value)

"""What comes first, what comes last, and what a small brief leaves out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.compose import compose
from holdfast.brief.files_and_commands import EVEN_SHARE, FEW, MORE, chances, rank_by_chance
from holdfast.record.model import Command, Failure, FileUse, NameUse, Place, Record, Task, Turn
from tests.checkpoint.sessions import Session

HEATS = st.dictionaries(st.text(min_size=1), st.floats(0.01, 100), min_size=1)


def busy(files: int, names_in_each: int) -> Record:
    """A session that used so many files, the first most, and wrote names into each."""
    facts = Record(op=100, session_id="s", turns=[Turn("Do it.", Place())])
    for number in range(files):
        path = f"src/part/file_{number}.py"
        facts.files[path] = FileUse(edits=1, heat=20.0 / (1 + number), op=100)
        for count in range(names_in_each):
            facts.names[f"call_{number}_{count}"] = NameUse(1, 5.0 / (1 + count), 100, path)
    return facts


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.requirement("B4")
@given(heats=HEATS)
def test_the_warmer_is_the_likelier(heats: dict[str, float]) -> None:
    found = chances(heats)
    order = sorted(heats, key=lambda key: heats[key])
    assert all(0 < chance < 1 for chance in found.values())
    ordered = [found[key] for key in order]
    assert all(one <= other * (1 + 1e-12) for one, other in pairwise(ordered)), "but for rounding"


@pytest.mark.requirement("B4")
def test_what_holds_the_even_share_is_used_again_in_half_of_all_cases() -> None:
    assert chances({"it": EVEN_SHARE, "rest": 1 - EVEN_SHARE})["it"] == pytest.approx(0.5)


@pytest.mark.requirement("B4")
@given(heats=HEATS, small=st.integers(0, 9000), more=st.integers(0, 9000))
def test_a_larger_brief_leaves_nothing_out_that_a_smaller_one_takes(
    heats: dict[str, float], small: int, more: int
) -> None:
    taken = [
        {key for key, chance in rank_by_chance(heats, limit, 99) if chance}
        for limit in (small, small + more)
    ]
    assert taken[0] <= taken[1]


@pytest.mark.requirement("B4")
def test_a_small_brief_names_only_what_is_likely_and_says_that_there_is_more() -> None:
    facts = busy(files=60, names_in_each=0)
    small, large = (compose(facts, tokens).text for tokens in (500, 2000))
    assert small.count("file_") < 20 < large.count("file_")
    assert "file_0.py" in small and "lesser items cut)" in small


@pytest.mark.requirement("B4")
def test_no_row_is_a_wall_of_names() -> None:
    facts = busy(files=6, names_in_each=60)
    for file in list(facts.files)[3:]:
        del facts.files[file]  # names of files that are not listed are told file by file
    text = compose(facts, 2000).text
    assert max(row.count("call_") for row in rows(text)) <= FEW + MORE
    assert "- part/file_5.py: call_5_0, call_5_1" in text


@pytest.mark.requirement("B4")
def test_the_file_worked_on_has_more_of_its_names_told_than_a_colder_one() -> None:
    text = compose(busy(files=12, names_in_each=30), 2800).text
    counts = {row.split(".py")[0][-6:]: row.count("call_") for row in rows(text)}
    assert counts["file_0"] > counts["file_9"] >= 1


@pytest.mark.requirement("B4")
def test_a_file_does_not_repeat_its_own_name(tmp_path: Path) -> None:
    session = Session().edits("/work/project/src/read_header.py", "", "read_header(first_line)")
    text = compose(session.record(tmp_path)).text
    assert "src/read_header.py (edited): first_line\n" in text


@pytest.mark.requirement("B4")
@pytest.mark.parametrize(
    "other", ["node_modules/left/pad.js", "/usr/include/zlib.h", "build/out.txt", "run.log"]
)
def test_what_is_not_the_projects_own_text_comes_after_what_is(other: str) -> None:
    facts = Record(
        op=9, files={other: FileUse(1, heat=3.0, op=9), "src/own.py": FileUse(1, 1, 0, 0, 2.0)}
    )
    facts.files["src/own.py"].op = 9
    text = compose(facts).text
    assert text.index("src/own.py") < text.index(other.rpartition("/")[2])


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("other", ["a/src/one.py", "b/src/one.py", "../src/one.py", "one.py"])
def test_a_file_told_from_elsewhere_is_that_file(other: str) -> None:
    files = {"src/one.py": FileUse(reads=1, heat=1.0, op=1), other: FileUse(seen=1, heat=1.0, op=1)}
    assert compose(Record(op=1, files=files)).text.count("one.py") == 1


@pytest.mark.requirement("B4")
def test_a_file_that_was_read_is_its_own_even_if_another_is_called_so() -> None:
    paths = ("package.json", "web/package.json", "a/other.py")
    facts = Record(op=1, files={path: FileUse(reads=1, heat=1.0, op=1) for path in paths})
    text = compose(facts).text
    assert text.count("package.json") == 2
    assert "web/package.json" in text and "a/other.py" in text


@pytest.mark.requirement("B4")
def test_files_and_names_leave_a_third_of_the_brief_to_what_else_is_worth_telling() -> None:
    facts = busy(files=120, names_in_each=8)
    facts.tasks = {
        f"task {n}": Task(f"Go way {n} because {'it is plain ' * 12}", Place()) for n in range(40)
    }
    text = compose(facts, 2000).text
    listed = text.partition("## Files")[2].partition("\n## ")[0]
    listed += text.partition("## Also named")[2].partition("\n## ")[0]
    assert 0.3 < len(listed) / len(text) < 0.67


@pytest.mark.requirement("B4")
def test_the_newest_failure_is_told_even_in_a_small_brief() -> None:
    facts = busy(files=60, names_in_each=10)
    facts.tasks = {str(n): Task(f"task {n}: {'words ' * 12}", Place()) for n in range(30)}
    lines = [f"src/part/file_0.py:{n}: error: no such name" for n in range(6)]
    facts.failures = [Failure("make all", lines, Place(op=99), left=["make all"])]
    text = compose(facts, 400).text
    assert f"- `make all` (since turn 1)\n    {lines[0]}" in text


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("passes_since", [0, 50])
def test_a_failing_command_is_told_once_with_its_error(passes_since: int) -> None:
    facts = Record(op=100)
    facts.commands = {"make": Command("make", Place(), "build", 9, 9.0, 100, False)}
    lines = [f"error: {'far too long ' * 9}"]
    facts.failures = [Failure("make", lines, Place(op=9), passes=passes_since, left=["make"])]
    text = compose(facts, 500).text
    assert text.count("`make`") == 1 and "error: far too long" in text
    assert "items cut" not in text


@pytest.mark.requirement("B6")
def test_a_summary_holds_a_file_only_by_its_whole_name(tmp_path: Path) -> None:
    session = Session()
    for path in ("a.py", "x/types.py", "y/types.py"):
        session.edits(f"/work/project/{path}")
    for number in range(5):
        session.calls("Read", file_path=f"/work/project/read{number}.py")
    session.compacts("Summary: we changed data.py and x/types.py.")
    text = compose(session.record(tmp_path)).text
    assert " a.py (edited)" in text and "y/types.py" in text
    assert "x/types.py" not in text


@pytest.mark.requirement("B6")
def test_names_of_a_file_the_summary_only_mentions_are_still_told(tmp_path: Path) -> None:
    session = Session().calls("Read", "def parse_header(): ...", file_path="/work/project/a.py")
    for number in range(5):
        session.calls("Read", "x", file_path=f"/work/project/read{number}.py")
    session.compacts("Summary: a.py was read.")
    assert "- a.py: parse_header" in compose(session.record(tmp_path)).text

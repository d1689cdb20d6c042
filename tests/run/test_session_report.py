"""Which tasks of a session count as not done, by the words of its report."""

# ruff: noqa: E501, RUF001 (lines, signs and dashes as models write them)

from __future__ import annotations

import pytest

from holdfast.run.session_report import SessionReport, read_report
from holdfast.run.supervisor import find_claims
from tests.run.end_reports import REPORTS, Report

Tasks = tuple[tuple[str, str], ...]
NUMBERS = (("one", "One"), ("two", "Two"), ("three", "Three"))
CHART = (("price", "Fix the price"), ("draw-the-chart", "Draw the chart"), ("docs", "Write docs"))
CACHE = (("build", "Build"), ("no-cache", "No cache"), ("docs", "Write docs"))
DIGITS = (("1", "Cart"), ("2", "Price"), ("3", "Docs"), ("4", "Ship"))
REPLACE = (("one", "One"), ("search-and-replace", "Search and replace"), ("docs", "Docs"))


def _read(words: str, tasks: Tasks) -> tuple[list[str], bool]:
    names = [(name, title, title.partition(". ")[2]) for name, title in tasks]
    found = read_report(words, names)
    return [tasks[at][0] for at in found.undone], bool(found.halt)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("report", REPORTS, ids=range(len(REPORTS)))
def test_reports_as_a_model_writes_them_are_read(report: Report) -> None:
    tasks, undone, is_halted, words = report
    assert _read(words, tasks) == ([name for name, _ in tasks if name in undone], is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("undone", "words"),
    [
        ("two three", "NOT DONE: two (no network), three (no key)"),
        ("two three", "NOT DONE: two (no network) and three (no key)"),
        ("two three", "NOT DONE two = no network, three = no key"),
        ("two three", "NOT DONE two: no network; three: no key"),
        ("two three", "NOT DONE:\n\n**two**: no network\n\n**three**: no key"),
        ("two three", "NOT DONE two: no network\nthree: no key"),
    ],
)
def test_each_task_of_an_enumeration_with_reasons_is_not_done(undone: str, words: str) -> None:
    assert _read(words, NUMBERS) == (undone.split(), False)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (NUMBERS, "two three", False, "NOT DONE:\n- two: no network\n- three: no network"),
        (NUMBERS, "two three", False, "## NOT DONE\n\n1. two\n2. three"),
        (
            NUMBERS,
            "two three",
            True,
            "**Not done:**\n\n* `two`: waiting for Anna\n* `three`: after two\n\nAll else works, one too.",
        ),
        (
            CHART,
            "draw-the-chart docs",
            False,
            "Tasks not done\n==============\n\n- [ ] Draw the chart\n- [ ] Write docs\n",
        ),
        (NUMBERS, "two three", False, "NOT DONE\n  two (no network)\n  three (no network)"),
        (NUMBERS, "two three", False, "NOT DONE (2 of 3):\n• two\n• three"),
    ],
)
def test_a_list_below_a_bare_mention(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (
            NUMBERS,
            "two",
            True,
            "one: done, no problems; two: NOT DONE: waiting for Anna; three: done",
        ),
        (NUMBERS, "two", True, "There is no fixture yet, so two is not done: waiting for Anna"),
        (NUMBERS, "two", True, "| no | two | NOT DONE | waiting for Anna |"),
        (CACHE, "no-cache", True, "| no-cache | NOT DONE | waiting for Anna |"),
        (CACHE, "no-cache", True, "- no-cache: NOT DONE: waiting for Anna"),
        (
            CACHE,
            "no-cache",
            False,
            "None of the tests of docs fail. NOT DONE no-cache: nothing sets it",
        ),
    ],
)
def test_a_no_elsewhere_in_the_line_cancels_nothing(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (
            CHART,
            "price draw-the-chart",
            False,
            "NOT DONE: Fix the price and Draw the chart: no network",
        ),
        (CHART, "price draw-the-chart", False, "NOT DONE: Fix the price, Draw the chart"),
        (CHART, "price draw-the-chart", False, "NOT DONE: Fix the price & draw-the-chart"),
        (CHART, "price docs", False, "NOT DONE Fix the price; Write docs - no network"),
        (CHART, "price draw-the-chart docs", False, "NOT DONE: Fix the price and the other one"),
    ],
)
def test_every_title_of_a_line_is_not_done(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (DIGITS, "2 3 4", False, "NOT DONE: 2-4: no network"),
        (DIGITS, "2 3 4", False, "NOT DONE tasks 2 to 4: no network"),
        (DIGITS, "2 3 4", False, "NOT DONE: #2–#4"),
        (DIGITS, "2 3 4", False, "Tasks 2 through 4 are not done."),
        (DIGITS, "1 3 4", False, "NOT DONE: 1, 3..4"),
        (DIGITS, "1 2 3 4", False, "NOT DONE: 3-7"),
    ],
)
def test_a_range_means_all_tasks_in_it(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (CHART, "draw-the-chart", True, "| Draw the chart | NOT DONE | waiting for Anna |"),
        (
            CHART,
            "draw-the-chart",
            False,
            "| Fix the price | done |\n| Draw the chart | Not done |\n| Write docs | done |",
        ),
        (CHART, "docs", False, "Write docs is not done."),
    ],
)
def test_a_title_before_the_mention_names_its_task(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (NUMBERS, "two", False, "NOT DONE two: the test timed out waiting for the database"),
        (NUMBERS, "two", False, "NOT DONE two: it hung, waiting for a lock"),
        (NUMBERS, "two", False, "NOT DONE two: the server stopped because of a signal"),
    ],
)
def test_only_a_reason_that_begins_with_the_words_stops_the_run(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (NUMBERS, "two", False, "NOT DONE two: no network\n\nSummary:\n- NOT DONE two: no network"),
        (CHART, "docs", False, "NOT DONE docs: no network\n\n| Write docs | NOT DONE |"),
    ],
)
def test_a_task_named_twice_is_one_task(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (REPLACE, "search-and-replace", False, "NOT DONE search-and-replace: no network"),
        (REPLACE, "search-and-replace", False, "NOT DONE: Search and replace"),
        (REPLACE, "search-and-replace docs", False, "NOT DONE: search-and-replace and docs"),
    ],
)
def test_an_id_with_and_in_it_is_one_name(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (NUMBERS, "", False, "All pass.\nNOT DONE: -\n\nAll tests pass."),
        (NUMBERS, "", False, "NOT DONE: —"),
        (NUMBERS, "", False, "NOT DONE: 0"),
        (NUMBERS, "", False, "The check of two is not done twice any more. All done."),
        (NUMBERS, "", False, "**NOT DONE:** None."),
        (NUMBERS, "", False, "| NOT DONE | 0 |"),
    ],
)
def test_a_mention_may_clearly_name_nothing(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (CHART, "draw-the-chart", True, "NOT DONE Draw the chart - waiting for Anna"),
        (NUMBERS, "two", True, "NOT DONE two:\n  waiting for Anna"),
        (CHART, "draw-the-chart", True, "NOT DONE Draw the chart — Waiting for Anna"),
        (NUMBERS, "two", True, "NOT DONE two (waiting for Anna)"),
        (NUMBERS, "two", True, "- NOT DONE two\n  - stopped because nothing grows"),
        (NUMBERS, "two", True, "NOT DONE two. Waiting for Anna."),
    ],
)
def test_a_reason_stops_the_run_wherever_it_stands(
    tasks: Tasks, undone: str, is_halted: bool, words: str
) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("tasks", "undone", "is_halted", "words"),
    [
        (NUMBERS, "one two three", False, "NOT DONE four: no network"),
        (NUMBERS, "one two three", False, "The work is not done."),
        (NUMBERS, "one two three", False, "NOT DONE"),
        (NUMBERS, "two", False, "one is done, two is not done, three is done"),
        (NUMBERS, "two", False, "NOT DONE two: the schema is not done yet"),
        (
            NUMBERS,
            "two three",
            False,
            "- NOT DONE:\n  - two\n    - no network\n  - three\n- Done:\n  - one",
        ),
    ],
)
def test_other_layouts_are_read(tasks: Tasks, undone: str, is_halted: bool, words: str) -> None:
    assert _read(words, tasks) == (undone.split(), is_halted)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words",
    [
        "NOT DONE the rest",
        "NOT DONE two\nNOT DONE the rest",
        "NOT DONE t",
        "NOT DONE: none of the tests",
        "NOT DONE: no tests",
        "NOT DONE none-such: why",
    ],
)
def test_in_doubt_every_task_is_not_done(words: str) -> None:
    assert _read(words, NUMBERS) == (["one", "two", "three"], False)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words",
    [
        "NOT DONE: (none)",
        "## Not done (0)",
        "NOT DONE: 0 of 3",
        "NOT DONE: none (one and two are both done)",
        "NOT DONE: None - all done",
        "NOT DONE: 'none'!",
    ],
)
def test_what_names_no_task_leaves_all_done(words: str) -> None:
    assert read_report(words, NUMBERS) == SessionReport()
    assert not find_claims(words), "the supervisor, which knows no names, says the same"


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words",
    [
        "I have not done the second task: no network.",
        "I haven't done the second one.",
        "I left the last part not done because of the network.",
        "I have not done anything: the disk is full.",
        "Some tasks not done due to no network.",
        "I have not done tasks like these.",
    ],
)
def test_prose_that_names_no_task_means_all(words: str) -> None:
    assert _read(words, NUMBERS)[0] == ["one", "two", "three"]


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words",
    [
        "NOT DONE two (no network), three (could not be completed without a key)",
        "NOT DONE two: no network, three: not finished",
        "NOT DONE two (no network), three (half done)",
        "NOT DONE two: no network. three: no key.",
        "NOT DONE: two (no network) & three (no key)",
        "NOT DONE: two (no network), task three (no key)",
    ],
)
def test_a_further_task_is_done_only_if_it_is_called_so(words: str) -> None:
    assert _read(words, NUMBERS)[0] == ["two", "three"]


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words",
    [
        "The list now has a filter for done and not done items, and tests for it pass.",
        "It shows not done tasks in red.",
    ],
)
def test_words_about_a_kind_of_things_name_no_task(words: str) -> None:
    assert read_report(words, NUMBERS) == SessionReport()


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("words", "named", "reason", "halt"),
    [
        ("NOT DONE two: waiting for Lena", "two", "waiting for Lena", "waiting for Lena"),
        ("- **NOT DONE** `two`: Waiting for Lena.\nMore.", "two", None, "Waiting for Lena."),
        ("NOT DONE two (waiting for Lena)", "two", None, "waiting for Lena"),
        ("| two | NOT DONE | waiting for Lena |", "two", None, "waiting for Lena"),
        (
            "NOT DONE: none, except two: waiting for Lena",
            "none, except two",
            None,
            "waiting for Lena",
        ),
        ("a) NOT DONE one, two: no network", "one|two", "no network", ""),
    ],
)
def test_names_and_reasons_are_quoted(
    words: str, named: str, reason: str | None, halt: str | None
) -> None:
    found = read_report(words, NUMBERS)
    assert "|".join(found.named) == named
    assert reason is None or found.reason == reason
    assert halt is None or found.halt == halt


@pytest.mark.slow
@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "words", ["not done ", "|not done ", "not done\n", "NOT DONE two, ", "NOT DONE:\n- two\n", "_."]
)
def test_a_long_report_is_looked_through_once(words: str) -> None:
    """In quadratic time each would take minutes."""
    report = words * (60_000 // len(words))
    assert bool(read_report(report, NUMBERS).undone) == ("done" in words.lower())


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("words", ["NOT DONE 0, 1: no network", "NOT DONE: none, except two"])
def test_the_supervisor_takes_no_name_for_nothing(words: str) -> None:
    assert find_claims(words)


@pytest.mark.requirement("P5")
def test_a_title_in_a_reason_is_quoted_as_it_is_written() -> None:
    found = read_report("NOT DONE docs: waiting for Anna to Draw the chart", CHART)
    assert (found.named, found.halt) == (("docs",), "waiting for Anna to Draw the chart")

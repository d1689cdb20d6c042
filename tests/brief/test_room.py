"""How the room of a brief is shared: the user's words, what was printed, names last."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.compose import Brief, compose, compose_second
from holdfast.brief.item import MOST_UNITS, OUTPUT_TOKENS, hook_tokens
from holdfast.brief.work_items import FILES_SHARE
from holdfast.budget.compartments import units
from holdfast.record.model import FileUse, Place, Record, Turn
from tests.brief.test_quotes import busy, said
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B2", "B4", "B6", "B11")
SUMMARY = "The gauges were worked on. Some tests pass."
NAMES = ("quay", "tide", "gauge", "港", "mole", "pier", "buoy", "lock")
WORDS = st.lists(st.sampled_from(NAMES), max_size=25)


def both(record: Record) -> tuple[Brief, Brief]:
    """The two briefs of a compaction whose summary says hardly anything."""
    first = compose(record, OUTPUT_TOKENS, given="")
    return first, compose_second(record, f"{SUMMARY}\n{first.text}")


def rules(count: int) -> list[str]:
    """Messages whose rule is their second sentence, behind more than 80 characters."""
    asks = "Please look at the reader of the gauges again, it was slow this morning, number"
    return [f"{asks} {n}. Harbour rule {n} says that pier {n} stays closed." for n in range(count)]


def test_every_rule_of_a_long_session_is_in_one_of_the_two_briefs() -> None:
    words = rules(80)
    first, second = both(busy(said(*words)))
    assert sum(map(len, words)) > MOST_UNITS, "one brief has no room for them"
    told = first.text + second.text
    assert [n for n in range(80) if f"pier {n} stays closed." not in told] == []


def test_what_the_first_brief_has_is_not_said_again() -> None:
    words = rules(60)
    first, second = both(busy(said(*words)))
    assert not [text for text in words if text in first.text and text in second.text]
    told = {line.text for line in first.lines if not line.text.startswith("## ")}
    assert not told & {line.text for line in second.lines}


def test_a_second_brief_without_anything_new_is_empty(tmp_path: Path) -> None:
    record = Session().user("Read the gauge.").says("It is read.").record(tmp_path)
    assert both(record)[1].lines == []


@given(messages=st.lists(WORDS, min_size=1, max_size=110), tokens=st.integers(300, 2900))
def test_a_larger_brief_cuts_no_message_shorter(messages: list[list[str]], tokens: int) -> None:
    record = busy(said(*(f"at{n}: {' '.join(one)}" for n, one in enumerate(messages))))
    small, large = compose(record, tokens), compose(record, tokens + 500)
    shown = [
        sum(f"at{n}: " in brief.text for n in range(len(messages))) for brief in (small, large)
    ]
    assert shown[0] <= shown[1]
    assert units(large.text) <= MOST_UNITS


@pytest.mark.parametrize(
    ("limit", "tokens"), [(0, OUTPUT_TOKENS), (50_000, 1_500), (967_000, OUTPUT_TOKENS)]
)
def test_a_hook_tells_up_to_three_percent_of_the_compaction_limit(limit: int, tokens: int) -> None:
    assert hook_tokens("", limit) == tokens


def test_a_size_that_the_user_set_holds_in_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_BRIEF_TOKENS", "700")
    assert hook_tokens("", 167_000) == 700


def test_files_take_a_twelfth_of_a_brief_at_most() -> None:
    record = Record(op=100, session_id="s", turns=[Turn("Do it.", Place())])
    for number in range(300):
        path = f"src/part{number % 7}/file_{number}.py"
        record.files[path] = FileUse(reads=1, edits=number % 2, op=100 - number // 3)
    brief = compose(record, 2800)
    listed = [one for one in brief.items if one.section == "files"]
    assert 0 < sum(units(one.text) for one in listed) <= FILES_SHARE * 9_990
    assert "src/part1/" in brief.text and "(* edited)" in brief.text


def test_all_that_was_typed_is_said_to_be_all_only_if_it_is(tmp_path: Path) -> None:
    session = Session().user("Read the gauge.").says("It is read.")
    whole = session.record(tmp_path)
    assert "all that the user typed in this session stands in this brief" in compose(whole).text
    for change in ({"lost": 1}, {"unread": 9}, {"starts_midway": True}, {"words_missing": True}):
        record = session.record(tmp_path)
        for name, value in change.items():
            setattr(record, name, value)
        assert (
            "all that the user typed in this session stands in this brief"
            not in compose(record).text
        ), change
    cut = Session().user("tide " * 2000).user("Go on.").record(tmp_path)
    assert "all that the user typed in this session stands in this brief" not in compose(cut).text


def test_an_earlier_request_is_followed_by_both_ends_of_its_answer(tmp_path: Path) -> None:
    answer = f"Two gauges read. {'The tide was low. ' * 60}All in metres now."
    session = Session().user("Read the gauges.").says(answer).user("Now print them.")
    text = compose(session.record(tmp_path)).text
    line = next(line for line in text.splitlines() if line.startswith("  → "))
    assert line.startswith("  → “Two gauges read.") and line.endswith("All in metres now.”")

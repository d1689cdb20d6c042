"""A question that asks for a kind of thing gets that kind first, and the rest all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.memory import words
from holdfast.memory.index.interface import SearchFilter
from holdfast.memory.index.sqlite_index import Embedded
from holdfast.memory.item import CHECKPOINT, DECISION, MEMORY, SEGMENT, TURN, Item
from holdfast.memory.recall import search_indexes
from holdfast.memory.results import FoundItem

UNIT = "Decision: heights are kept as whole millimetres"
FEED = "going with five tries, since the feed is down at midnight"
RULE = "always run the tests before a commit"


def made(*items: Item) -> list[Item]:
    return [one._replace(id=f"i{n}", position=2 * n) for n, one in enumerate(items)]


ITEMS = made(
    *(Item("", TURN, f"the crew decided to decide {n}, and decided nothing") for n in range(20)),
    Item("", DECISION, UNIT, by="model", at="2026-03-01"),
    Item("", DECISION, FEED, by="model", at="2026-03-02"),
    Item("", DECISION, FEED, by="model", title="Key Decisions", at="2026-03-02"),
    Item("", DECISION, RULE, by="user", at="2026-03-03"),
    Item("", MEMORY, "tabs and not blanks", by="feedback", title="tabs"),
    Item("", CHECKPOINT, "KeyError: station", title="Active Issues"),
    Item("", CHECKPOINT, "pytest tests/tide (passed)", title="Commands"),
    Item("", CHECKPOINT, "tide.py - edited 3 times", title="What Changed"),
    Item("", TURN, "where is the tide table? which commands are there for the tide?"),
)


@pytest.fixture
def index(tmp_path: Path) -> Embedded:
    made = Embedded("/p", str(tmp_path / "p.db"))
    made.take("s", "", "1", ITEMS)
    return made


def first(index: Embedded, query: str, *kinds: str) -> list[FoundItem]:
    return search_indexes([index], words.parse_query(query), 10, SearchFilter(kinds)).found


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    "query", ["what we decided", "decisions", "what did we decide?", "List the last decisions"]
)
def test_who_asks_what_was_decided_gets_decisions_each_once_and_then_the_rest(
    index: Embedded, query: str
) -> None:
    found = first(index, query)
    assert {one.item.text for one in found[:3]} == {UNIT, FEED, RULE}
    assert [one.kind for one in found[3:]] == [TURN] * 7
    assert found[0].plain()["parts"]["kind"] > found[3].plain()["parts"]["kind"] == 0


@pytest.mark.requirement("M2")
def test_newer_ones_come_before_older_ones_that_match_no_better(tmp_path: Path) -> None:
    index = Embedded("/p", str(tmp_path / "p.db"))
    days = (2, 3, 1)
    rules = (Item("", DECISION, f"of day {n}", by="user", at=f"2026-03-0{n}") for n in days)
    index.take("s", "", "1", made(*rules))
    found = [one.item.text for one in first(index, "our rules")]
    assert found == ["of day 3", "of day 2", "of day 1"]


@pytest.mark.requirement("M2")
def test_a_list_of_decisions_is_by_age_and_not_by_the_word_decided(tmp_path: Path) -> None:
    index = Embedded("/p", str(tmp_path / "p.db"))
    old = Item("", DECISION, "you decide what we decide", by="user", at="2026-03-01")
    new = Item("", DECISION, "five tries", by="user", at="2026-03-02")
    index.take("s", "", "1", made(old, new))
    assert [one.item.text for one in first(index, "what we decided")] == [new.text, old.text]


@pytest.mark.requirement("M2")
def test_with_a_topic_those_on_the_topic_are_preferred_and_no_others(index: Embedded) -> None:
    found = first(index, "which decision about heights")
    assert found[0].item.text == UNIT
    assert [one.item.text for one in found if one.rank.kind] == [UNIT]


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("our rules and preferences", {RULE, "tabs and not blanks"}),
        ("which errors", {"KeyError: station"}),
        ("commands for the tide", {"pytest tests/tide (passed)"}),
        ("files of tide", {"tide.py - edited 3 times"}),
        ("which unit did we choose for heights", {UNIT}),
        ("how often did we agree to retry the feed", {FEED}),
    ],
)
def test_rules_errors_commands_and_files_are_asked_for_alike(
    index: Embedded, query: str, best: set[str]
) -> None:
    assert {one.item.text for one in first(index, query)[: len(best)]} == best


@pytest.mark.requirement("M2")
def test_a_kind_that_is_not_wanted_stays_out(index: Embedded) -> None:
    assert {one.kind for one in first(index, "what we decided", TURN)} == {TURN}


@pytest.mark.requirement("M2")
def test_words_that_only_ask_are_not_looked_for() -> None:
    assert words.parse_query("How many boats may moor here, and how much might it cost?").terms == (
        "boats",
        "moor",
        "cost",
    )


@pytest.mark.requirement("M2")
def test_a_word_that_asks_for_a_kind_is_found_in_all_its_stems() -> None:
    assert words.widen(words.parse_query("what we decided")).terms == (
        "decided",
        "decide",
        "decision",
    )
    plain = words.parse_query("why the file is slow")
    assert words.find_leanings(plain) == [] and words.widen(plain) == plain


@pytest.mark.requirement("M2")
def test_checkpoints_of_a_session_and_pieces_of_a_topic_are_one_result_each(tmp_path: Path) -> None:
    index = Embedded("/p", str(tmp_path / "p.db"))
    index.take(
        "s",
        "",
        "1",
        [
            Item("c1", CHECKPOINT, "the lamp is dimmed at noon, by order", 0, session="s1"),
            Item("c2", CHECKPOINT, "a lamp for every pier, dimmed by hand", 2, session="s1"),
            Item("c3", CHECKPOINT, "which lamp was dimmed in the fog?", 4, session="s2"),
            Item("segment-s1_seg_1", SEGMENT, "lamp: dimmed since the pilots complained", 6),
            Item("segment-s1_seg_1.1", SEGMENT, "the fog lamp, once dimmed, stays so", 8),
        ],
    )
    found = first(index, "lamp dimmed")
    assert [one.kind for one in found].count(CHECKPOINT) == 2
    assert {one.item.session for one in found if one.kind == CHECKPOINT} == {"s1", "s2"}
    assert [one.kind for one in found].count(SEGMENT) == 1
    assert len(first(index, "lamp dimmed", CHECKPOINT)) == 3


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    ("text", "asked"),
    [("Die Straße am Hafen", "STRASSE"), ("DIE STRASSE AM HAFEN", "Straße"), ("η οδος", "ΟΔΟΣ")],
)
def test_a_word_in_capitals_is_the_same_word(text: str, asked: str) -> None:
    indexed = {*words.plain(text), *words.name_parts(text)}
    assert indexed & set(words.parse_query(asked).terms)

"""After a compaction of a long session, two briefs together hold what one has no room for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief import size
from holdfast.brief.compose import Brief, compose
from holdfast.brief.item import MOST_UNITS
from holdfast.budget.compartments import units
from holdfast.events import after_compact
from holdfast.events.after_compact import compose_second
from holdfast.events.window_brief import compose_brief
from holdfast.record import Record
from holdfast.record.model import (
    Command,
    Decision,
    Failure,
    FileUse,
    NameUse,
    Place,
    Question,
    Task,
)
from holdfast.text import fence
from holdfast.window import alert_texts, outbox
from holdfast.window.state import State
from tests.brief.test_quotes import busy, said
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B2", "B6", "B11")
SUMMARY = "The gauges were worked on. Some tests pass."
NAMES = ("quay", "tide", "gauge", "港", "mole", "pier", "buoy", "lock")
WORDS = st.lists(st.sampled_from(NAMES), max_size=25)


def both(record: Record, tokens: int = size.DEFAULT_TOKENS) -> tuple[Brief, Brief]:
    """The two briefs of a compaction whose summary says hardly anything."""
    first = compose(record, tokens, may_grow=True, remark_chars=2000, summary="", is_followed=True)
    return first, compose_second(record, SUMMARY, first.text, claims=())


def rules(count: int) -> list[str]:
    """Messages whose rule is their second sentence, behind more than 80 characters."""
    asks = "Please look at the reader of the gauges again, it was slow this morning, number"
    return [f"{asks} {n}. Harbour rule {n} says that pier {n} stays closed." for n in range(count)]


def test_every_rule_of_a_long_session_is_whole_in_one_of_the_two_briefs() -> None:
    words = rules(80)
    record = busy(said(*words))
    first, second = both(record)
    assert sum(map(len, words)) > MOST_UNITS, "one brief has no room for them"
    for text in words:
        assert text in first.text or text in second.text
    assert words[-1] in first.text, "the newest come first"
    assert "older messages follow after your next step)" in first.text
    assert "older messages" not in second.text
    assert after_compact.CONTINUED in second.text


def test_words_that_are_whole_in_the_first_brief_are_not_repeated() -> None:
    words = rules(80)
    first, second = both(busy(said(*words)))
    assert not [text for text in words if text in first.text and text in second.text]


@given(messages=st.lists(WORDS, min_size=1, max_size=110), current=WORDS)
def test_two_briefs_hold_all_words_that_fit_into_both(
    messages: list[list[str]], current: list[str]
) -> None:
    """Each message ends in a word of its own, which stands only where the message is whole."""
    texts = [" ".join([*one, f"end{n}"]) for n, one in enumerate([*messages, current])]
    record = busy(said(*texts))
    first, second = both(record)
    assert units(first.text) <= MOST_UNITS
    assert units(second.text) <= size.SECOND_UNITS
    if sum(map(len, texts)) + 8 * len(texts) <= 11_000:
        assert [text for text in texts if text not in first.text + second.text] == []


@given(messages=st.lists(WORDS, min_size=1, max_size=150), tokens=st.integers(2000, 2900))
def test_a_larger_budget_loses_no_message_of_the_two_briefs(
    messages: list[list[str]], tokens: int
) -> None:
    record = busy(said(*(f"at{n}: {' '.join(one)}" for n, one in enumerate(messages))))
    begun = [
        {n for n in range(len(messages)) if f"“at{n}:" in small.text + large.text}
        for small, large in (both(record), both(record, tokens))
    ]
    assert begun[0] <= begun[1]


def test_more_words_than_two_briefs_hold_are_cut_at_one_limit_and_the_rest_is_counted() -> None:
    words = [f"Message {n} of the pilots. {'It goes on and on. ' * 8}" for n in range(400)]
    first, second = both(busy(said(*words)))
    shown = [n for n in range(400) if f"“Message {n} of the pilots." in first.text + second.text]
    assert shown == list(range(400 - len(shown), 400)), "the newest"
    assert len(shown) > 120
    left = 400 - len(shown)
    assert f"({left} older messages: the tool `recall` finds them" in second.text


def test_no_room_is_left_in_the_second_brief_while_words_are_cut() -> None:
    words = rules(130)
    first, second = both(said(*words))
    assert sum(text in first.text + second.text for text in words) > 40
    assert units(second.text) > 6_500


def test_a_sentence_that_was_said_again_stands_once_where_room_is_short() -> None:
    again = (
        "Go through the helpers of the reader once more, slowly, and tell me what you see there."
    )
    words = [f"{again} Harbour rule {n} says that pier {n} stays closed." for n in range(110)]
    first, second = both(busy(said(*words)))
    assert (first.text + second.text).count(again) == 1
    assert f"“{words[-1]}”" in first.text
    for n in range(109):
        assert f"“… Harbour rule {n} says" in first.text + second.text


def test_where_all_words_fit_no_sentence_is_left_out() -> None:
    again = (
        "Go through the helpers of the reader once more, slowly, and tell me what you see there."
    )
    words = [f"{again} Harbour rule {n} says that pier {n} stays closed." for n in range(20)]
    first, _ = both(busy(said(*words)))
    assert first.text.count(again) == 20


def test_words_of_the_user_never_push_out_open_work() -> None:
    record = said(*rules(110))
    for number in range(20):
        place, run = Place(number, "", number), f"pytest -q tests/test_quay_{number}.py"
        lines = [f"E AssertionError: the level of quay {number} is {number}.35"]
        record.commands[run] = Command(run, place, "test", 1, 1.0, number, ok=False)
        record.failures.append(Failure(run, lines, place))
        record.tasks[str(number)] = Task(f"Write down how pier {number} is drained", place)
    first, second = both(record)
    for number in range(20):
        for text in (f"pier {number} is drained", f"quay {number} is {number}.35"):
            assert text in first.text or text in second.text
    assert "AssertionError" in first.text, "a few are in the first request already"


def test_exact_commands_have_room_of_their_own_in_the_second_brief_of_a_long_session() -> None:
    record = said(*rules(110))
    record.op = 4000
    runs = [f"make tide-tables PORT={n} YEAR=1953 {'GAUGE=north ' * 8}" for n in range(7)]
    record.commands = {run: Command(run, Place(), "", 1, 0.01, 1, ok=True) for run in runs}
    for number in range(12):
        run = f"ls pier-{number}"
        record.commands[run] = Command(run, Place(), "", 90, 90.0, 4000, ok=True)
    for number in range(200):
        path = f"src/{number}.py"
        record.files[path] = FileUse(9, 9, 9, 0, 9.0, 4000)
        record.names[f"gauge_{number}"] = NameUse(9, 9.0, 4000, path)
        noted = f"The gauge of pier {number} is kept in feet, as all the tables of the port are."
        record.remarks.append(Decision(noted, Place(op=number)))
        if number < 30:
            record.tasks[path] = Task(f"Write down how pier {number} is drained", Place())
    first, second = both(record)
    assert [n for n in range(7) if f"PORT={n} " not in first.text + second.text] == []


@pytest.mark.parametrize("messages", [30, 110], ids=["a short second brief", "a long one"])
def test_a_command_run_once_long_ago_stands_before_more_targets_of_one_program(
    messages: int,
) -> None:
    record = said(*rules(messages))
    record.op = 4000
    once = ("make sea-chart SCALE=3", "go run ./cmd/lock drain --gate 6", "npm run tiles -- -p 61")
    record.commands = {run: Command(run, Place(), "", 1, 0.01, 1, ok=True) for run in once}
    for number in range(120):
        run = f"pytest -q tests/test_quay_of_the_north_{number}.py"
        record.commands[run] = Command(run, Place(), "test", 9, 9.0, 4000, ok=True)
    for number in range(200):
        record.files[f"src/{number}.py"] = FileUse(9, 9, 9, 0, 9.0, 4000)
        record.remarks.append(Decision(f"The gauge of pier {number} is in feet.", Place(op=number)))
    first, second = both(record)
    assert [run for run in once if f"`{run}` ok" not in first.text + second.text] == []


def test_the_form_that_is_kept_of_a_program_is_the_last_that_went_well() -> None:
    record = said(*rules(110))
    record.op = 4000
    for op, ok in ((1, True), (2, True), (3, False)):
        run = f"./deploy.py --to north-{op}"
        record.commands[run] = Command(run, Place(), "", 1, 0.01, op, ok=ok)
    for number in range(200):
        run = f"make pier-{number}"
        record.commands[run] = Command(run, Place(), "", 9, 9.0, 4000, ok=False)
    _, second = both(record)
    assert "`./deploy.py --to north-2` ok" in second.text
    assert "north-1" not in second.text


def test_an_answer_stands_with_its_question_in_a_long_session() -> None:
    record = said(*(f"{n}: {'The gauges of the lake are slow. ' * 9}{n}" for n in range(40)))
    asked = Question(
        "Who may override a storm closure?", Place(), "only the harbour master, in writing"
    )
    record.turns[30].questions.append(asked)
    first, second = both(busy(record))
    answer = "“only the harbour master, in writing” (to “Who may override a storm closure?”)"
    assert answer in first.text + second.text


def test_the_current_request_is_whole_in_the_first_brief_of_a_long_session() -> None:
    request = " ".join(f"Gauge {number} reads in feet and must say metres." for number in range(45))
    first, _ = both(busy(said(*rules(70), request)))
    assert request in first.text


def test_the_second_brief_of_a_short_session_stays_short(tmp_path: Path) -> None:
    session = Session().user("Close pier 4.").says("Closed.").user("And pier 5.").works(30)
    record = busy(session.record(tmp_path))
    record.tasks.clear()
    _, second = both(record)
    assert units(second.text) <= after_compact.SECOND_TOKENS * 3.5


def test_a_subagent_is_promised_no_second_brief() -> None:
    """What a hook of a subagent says later would reach its caller."""
    record = busy(said(*rules(110)))
    own = State(agent_id="a1", agent_type="general-purpose")
    text = compose_brief(own, "", record, compacting=True).text
    assert "older messages: the tool `recall` finds them" in text
    assert "follow after your next step" not in text


@pytest.mark.requirement("B2")
def test_what_a_hook_may_add_to_the_second_brief_still_fits() -> None:
    message = "x" * outbox.MOST_CHARS
    board = [fence.opening(outbox.ORIGIN), *[message] * outbox.AT_ONCE, fence.closing()]
    added = units("\n".join(board)) + alert_texts.MOST_CHARS + 2
    assert size.SECOND_UNITS + added <= 10_000

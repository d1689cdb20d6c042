"""Laws of the budget: never over it, no empty heading, nothing pinned cut, cuts between items."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.compose import compose
from holdfast.brief.item import MOST_UNITS
from holdfast.budget.compartments import units
from holdfast.record.model import Command, FailedRun, FileUse, Place, Record, Task, Turn

WORDS = st.text(min_size=1, max_size=120)


@st.composite
def sessions(draw: st.DrawFn) -> Record:
    """A record of any size and any words."""
    words = draw(st.lists(WORDS, min_size=1, max_size=40))
    facts = Record(op=len(words), session_id="s")
    for number, text in enumerate(words):
        place = Place(number, "", number)
        kind = number % 5
        if kind == 0:
            facts.turns.append(Turn(text, place, said=text))
        elif kind == 1:
            question = draw(st.sampled_from(["", "Which one?", text]))
            facts.turns.append(Turn(text, place, reply_to=question))
        elif kind == 2:
            facts.files[text.replace("\n", "")] = FileUse(1, 2, 3, number)
        elif kind == 3:
            failed = FailedRun(place, place, [text])
            facts.commands[text] = Command(
                place, count=1, op=number, ok=False, printed=text, failed=failed
            )
        else:
            facts.tasks[str(number)] = Task(text, place)
    return facts


@pytest.mark.requirement("B2", "B4")
@given(facts=sessions(), max_tokens=st.integers(1, 6000))
def test_a_brief_is_never_over_its_budget(facts: Record, max_tokens: int) -> None:
    text = compose(facts, max_tokens).text
    assert len(text) / 3.5 <= max_tokens
    assert units(text) <= MOST_UNITS
    assert len(text.encode("utf-16-le")) // 2 <= 10_000


@pytest.mark.slow
@pytest.mark.requirement("B4")
@given(facts=sessions(), max_tokens=st.integers(100, 3000))
def test_no_heading_stands_empty(facts: Record, max_tokens: int) -> None:
    lines = compose(facts, max_tokens).text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("## "):
            assert after and not after.startswith(("## ", "</holdfast-brief", "("))


@pytest.mark.requirement("B4", "B11")
@given(facts=sessions(), count=st.integers(1, 5), max_tokens=st.integers(500, 2000))
def test_the_users_words_and_the_current_request_are_never_cut_for_others(
    facts: Record, count: int, max_tokens: int
) -> None:
    said = [f"Around here thing {number} is done by hand." for number in range(count)]
    request = "Write the report that was asked for last week, in plain words."
    facts.turns = [Turn(text, Place(op=number)) for number, text in enumerate([*said, request])]
    text = compose(facts, max_tokens).text
    assert all(words in text for words in [*said, request])


@pytest.mark.requirement("B4")
@given(facts=sessions(), max_tokens=st.integers(40, 300))
def test_nothing_lesser_stands_where_the_users_words_or_a_marked_rule_do_not(
    facts: Record, max_tokens: int
) -> None:
    facts.turns = [Turn("Write the report of last week.", Place())]
    facts.commands["make"] = Command(Place(), count=9, op=facts.op, ok=True)
    brief = compose(facts, max_tokens, marked=["Run the slow tests before you commit."])
    reasons = {line.reason for line in brief.lines} - {""}
    if reasons - {"said by the user", "a marked rule"}:
        assert {"said by the user", "a marked rule"} <= reasons


RULES = ("Run the slow tests before you commit.", "Never push to the release branch.")


@pytest.mark.requirement("B4", "B11")
@given(
    facts=sessions(),
    lengths=st.lists(st.integers(1, 150), min_size=1, max_size=12),
    budgets=st.tuples(st.integers(700, 3_000), st.integers(700, 3_000)),
)
def test_a_larger_budget_never_loses_a_pinned_rule_or_a_word_of_the_user(
    facts: Record, lengths: list[int], budgets: tuple[int, int]
) -> None:
    """Every word is another one, so that each can be looked for. Where older messages had no room
    at all, they get some of a larger budget first: then each message is still begun. In fewer than
    700 tokens the last request and two rules compete, and a rule may give way to a longer one."""
    said = [[f"rope{turn}x{n}" for n in range(count)] for turn, count in enumerate(lengths)]
    facts.turns = [Turn(" ".join(words), Place(op=turn)) for turn, words in enumerate(said)]
    small, large = (compose(facts, tokens, marked=RULES).text for tokens in sorted(budgets))
    assert [rule for rule in RULES if rule in small and rule not in large] == []
    shown = [set(re.findall(r"rope\d+x\d+\b", text)) for text in (small, large)]
    begun = [{word for word in one if word.endswith("x0")} for one in shown]
    assert begun[0] <= begun[1]
    assert "older messages" in small or shown[0] <= shown[1]

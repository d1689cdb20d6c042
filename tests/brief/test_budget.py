"""Laws of the budget: never over it, no empty heading, nothing pinned cut, cuts between items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.compose import compose
from holdfast.brief.size import MOST_UNITS, units
from holdfast.checkpoint.facts import Command, Facts, Name, Place, Prompt, Rule, Task, Used

WORDS = st.text(min_size=1, max_size=120)


@st.composite
def sessions(draw: st.DrawFn) -> Facts:
    """Facts of any size and any words."""
    words = draw(st.lists(WORDS, min_size=1, max_size=40))
    facts = Facts(op=len(words), session_id="s")
    for number, text in enumerate(words):
        place = Place(number, "", number)
        kind = number % 5
        if kind == 0:
            facts.prompts.append(Prompt(text, place, len(text)))
        elif kind == 1:
            facts.rules.append(Rule(text, place, draw(st.sampled_from(["wish", "choice"]))))
        elif kind == 2:
            facts.files[text.replace("\n", "")] = Used(1, 2, 3, 0, 2.0, number)
            facts.names[f"name_{number}"] = Name(1, 1.0, number, text.replace("\n", ""))
        elif kind == 3:
            facts.commands[text] = Command(text, place, "test", 1, 1.0, number, False, [text])
        else:
            facts.tasks[str(number)] = Task(text, place)
    return facts


@pytest.mark.requirement("B2", "B4")
@given(facts=sessions(), max_tokens=st.integers(1, 6000))
def test_a_brief_is_never_over_its_budget(facts: Facts, max_tokens: int) -> None:
    text = compose(facts, max_tokens).text
    assert len(text) / 3.5 <= max_tokens
    assert units(text) <= MOST_UNITS
    assert len(text.encode("utf-16-le")) // 2 <= 10_000


@pytest.mark.requirement("B4")
@given(facts=sessions(), max_tokens=st.integers(60, 3000))
def test_no_heading_stands_empty(facts: Facts, max_tokens: int) -> None:
    lines = compose(facts, max_tokens).text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("## "):
            assert after and not after.startswith(("## ", "</holdfast-brief", "("))


@pytest.mark.requirement("B4")
@given(facts=sessions(), rules=st.integers(1, 5), max_tokens=st.integers(500, 2000))
def test_pinned_rules_and_the_task_are_never_cut(facts: Facts, rules: int, max_tokens: int) -> None:
    said = [f"Never do thing number {number} in this project." for number in range(rules)]
    facts.rules += [Rule(text, Place(op=number)) for number, text in enumerate(said)]
    request = "Write the report that was asked for last week, in plain words."
    facts.prompts.append(Prompt(request, Place(), len(request)))
    text = compose(facts, max_tokens).text
    assert request in text and all(rule in text for rule in said)


RULE = "Always run the slow tests before you commit, whatever the hurry."


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("max_tokens", [110, 150, 300, 500])
def test_a_rule_within_the_request_is_told_even_where_the_request_is_shortened(
    max_tokens: int,
) -> None:
    request = f"Write the report for all harbours. {'It has a page for each. ' * 8} {RULE}"
    facts = Facts(op=9, session_id="s", prompts=[Prompt(request, Place(), len(request))])
    facts.rules = [Rule(RULE, Place())]
    facts.last_texts = ["Now the harbours, one after the other."]
    facts.files = {f"src/file_{n}.py": Used(edits=2, heat=9.0, op=9) for n in range(9)}
    text = compose(facts, max_tokens).text
    assert text.count(RULE) == 1 and "Write the report" in text


@pytest.mark.requirement("B4")
@given(facts=sessions(), max_tokens=st.integers(40, 300))
def test_nothing_lesser_stands_where_a_rule_or_the_task_does_not(
    facts: Facts, max_tokens: int
) -> None:
    facts.prompts = [Prompt("Write the report of last week.", Place(), 30)]
    facts.rules = [Rule(RULE, Place())]
    facts.commands["make"] = Command("make", Place(), "build", 9, 9.0, facts.op, ok=True)
    reasons = {line.reason for line in compose(facts, max_tokens).lines} - {""}
    if reasons - {"rule", "the request being worked on"}:
        assert {"rule", "the request being worked on"} <= reasons


@pytest.mark.requirement("B4")
def test_the_request_takes_what_room_is_left_up_to_half_of_the_brief() -> None:
    request = " ".join(f"Column {number} holds heights in metres." for number in range(120))
    facts = Facts(op=9, session_id="s", prompts=[Prompt(request, Place(), len(request), line=3)])
    text = compose(facts, 2000).text
    assert 0.45 * 7000 < len(text) < 0.6 * 7000
    assert f"({len(request):,} characters, whole in line 3 of the transcript)" in text


@pytest.mark.requirement("B4")
@given(facts=sessions(), max_tokens=st.integers(60, 800))
def test_items_are_whole_or_not_there_and_the_cut_is_announced(
    facts: Facts, max_tokens: int
) -> None:
    brief = compose(facts, max_tokens)
    body = brief.text.splitlines()
    if brief.text and "lesser items cut)" not in brief.text:
        assert body[-2] != ""
    whole = {line.text for line in compose(facts, 2800).lines if line.text.startswith("- “")}
    for line in brief.lines:
        if line.reason == "wish":
            assert line.text in whole


@pytest.mark.requirement("B4")
def test_the_cut_is_said_in_one_line() -> None:
    facts = Facts(op=9)
    facts.tasks = {str(n): Task(f"task number {n} of many", Place()) for n in range(200)}
    assert "lesser items cut)" in compose(facts, 200).text


def test_nothing_known_gives_hardly_anything() -> None:
    assert compose(Facts(), 2000).lines == []
    assert compose(Facts(), 1).text == ""

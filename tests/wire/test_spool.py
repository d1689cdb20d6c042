"""The spool line: version 2 carries how long a call took; version 1 is still read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire import spool
from tests.hot.hooks import fire, window

NUMBERS = st.integers(0, 10**15)
WORDS = st.from_regex(r"[A-Za-z0-9_.:-]{1,80}", fullmatch=True).filter(lambda text: text != "-")


@pytest.mark.requirement("W8")
@given(st.tuples(NUMBERS, WORDS, NUMBERS, WORDS, WORDS, WORDS, NUMBERS, WORDS, NUMBERS))
def test_what_is_written_is_what_is_read(
    fields: tuple[int, str, int, str, str, str, int, str, int],
) -> None:
    line = spool.SpoolLine(*fields)
    found = spool.parse(line.render().rstrip("\n"))
    assert found is not None
    assert found.render() == line.render()


@pytest.mark.requirement("W8", "X6")
def test_lines_of_the_version_before_are_read_and_those_of_another_are_not() -> None:
    old = spool.parse("v1 5 PostToolUse 70 usage t1 Bash 12 m1")
    assert old is not None
    assert (old.tool, old.duration_ms) == ("Bash", 0)
    assert spool.parse("v1 5 PostToolUse 70 usage t1 Bash 12 m1 9") is None
    assert spool.parse("v2 5 PostToolUse 70 usage t1 Bash 12 m1") is None
    assert spool.parse("v3 5 PostToolUse 70 usage t1 Bash 12 m1 9") is None


@pytest.mark.requirement("A1", "X2")
def test_the_hook_notes_how_long_a_call_took_and_whose_prompt_an_agent_works_on() -> None:
    for told in (36, "36", -1, True, None, 1 << 60):
        fire("PostToolUse", duration_ms=told)
    fire("SubagentStart")
    *calls, agent = spool.lines(str(window()))
    assert [line.duration_ms for line in calls] == [36, 0, 0, 0, 0, 0]
    assert agent.answer_id == "00000000-0000-4000-8000-000000000000"

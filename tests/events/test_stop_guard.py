"""The stop guard's judgement: values in, a verdict out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.events.stop_guard import StopFacts, judge
from holdfast.wire.spool import LIVE_MS, SpoolLine, failed_tools, running_agents

COMMAND = "/opt/holdfast/bin/holdfast"


def _agent(ms: int, event: str, agent: str = "a1") -> SpoolLine:
    return SpoolLine(ms, event, 0, "agent", agent, "reviewer")


def _call(event: str, tool: str, answer: str) -> SpoolLine:
    return SpoolLine(1, event, 5, "usage", "t", tool, 0, answer)


@pytest.mark.requirement("G7")
def test_the_reason_names_the_last_checkpoint_only_if_there_is_one() -> None:
    facts = StopFacts(unsaved_ratio=0.54)
    first = "54% of the compaction limit is used, and this session has no checkpoint: "
    assert first + f"run `{COMMAND} checkpoint`" in judge(facts, COMMAND)
    later = judge(facts._replace(has_checkpoint=True), COMMAND)
    assert "54% of the compaction limit was used since the last checkpoint: " in later


@pytest.mark.requirement("G7")
@given(st.lists(st.text(max_size=90), max_size=40), st.floats(0, 1), st.booleans())
def test_a_forced_stop_is_never_held_up_and_a_reason_is_short(
    names: list[str], ratio: float, forced: bool
) -> None:
    said = judge(StopFacts(tuple(names), tuple(names), ratio, forced), COMMAND)
    assert not (forced and said)
    assert len(said) < 1_000


@pytest.mark.requirement("G7")
def test_agents_run_from_their_start_to_their_stop() -> None:
    start, stop = _agent(5, "SubagentStart"), _agent(6, "SubagentStop")
    assert running_agents([start], 10) == {"a1": "reviewer"}
    assert running_agents([start, stop], 10) == {}
    assert running_agents([start, stop, _agent(7, "SubagentStart")], 10) == {"a1": "reviewer"}
    assert running_agents([start], 5 + LIVE_MS) == {}
    begun = SpoolLine(8, "SessionStart", 0, "usage")
    compacted = SpoolLine(8, "SessionStart", 0, "compacting.estimated")
    assert running_agents([start, begun], 10) == {}
    assert running_agents([start, compacted], 10) == {"a1": "reviewer"}


@pytest.mark.requirement("G7")
def test_a_failure_is_open_until_the_same_tool_works_or_ten_operations_passed() -> None:
    failed = _call("PostToolUseFailure", "Edit", "m1")
    assert failed_tools([failed]) == ["Edit"]
    assert failed_tools([failed, _call("PostToolUse", "Read", "m2")]) == ["Edit"]
    assert failed_tools([failed, _call("PostToolUse", "Edit", "m2")]) == []
    later = [_call("PostToolUse", "Read", f"m{n}") for n in range(2, 12)]
    assert failed_tools([failed, *later[:9]]) == ["Edit"]
    assert failed_tools([failed, *later]) == []

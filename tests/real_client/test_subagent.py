"""A subagent has a window of its own, and what is said about it must not reach its parent."""

from pathlib import Path

import pytest

from holdfast.wire import spool
from tests.trial.cycle import hook_faults, our_texts, rounds
from tests.trial.script import Acts, ScriptedAnswer, bash, start_agent, usage_of

from .stage import Stage, perform

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]

PARENT_MOST = 40_000
ESTIMATED = 1_500  # what the client added since the answer, which only the next usage will tell
AGENT_USAGE = (80_000, 120_000, 130_000, 145_000, 153_000, 158_000)


def _script() -> Acts:
    main = [
        ScriptedAnswer("First.", (bash("echo first"),), usage_of(20_000)),
        ScriptedAnswer("Let an agent look.", (start_agent(),), usage_of(30_000)),
        *rounds((35_000, PARENT_MOST)),
    ]
    report = ScriptedAnswer("All is well.", usage=usage_of(AGENT_USAGE[-1] + 100))
    return Acts(main, agent=[*rounds(AGENT_USAGE), report])


@pytest.mark.requirement("W5", "G5")
def test_a_subagents_readings_never_mix_with_its_parents(binary: Path, stage: Stage) -> None:
    """Nor is its fullness told to the parent, which gets what an async hook says in a subagent."""
    trial = perform(binary, stage, _script())
    agent_id = trial.asked("agent")[0].agent_id
    windows = stage.windows(trial.session_id)
    assert set(windows) == {"main", f"agent-{agent_id}"}
    mains = spool.lines(str(windows["main"]))
    agents = spool.lines(str(windows[f"agent-{agent_id}"]))
    assert max(line.used for line in mains) <= PARENT_MOST + ESTIMATED
    tools = [line.used for line in agents if line.event == "PostToolUse"]
    assert tools == pytest.approx(AGENT_USAGE, abs=ESTIMATED)
    assert hook_faults(trial) == []
    assert [text for request in trial.asked("main") for text in our_texts(request)] == []

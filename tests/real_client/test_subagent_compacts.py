"""A subagent that fills its own window compacts on its own (seen with 2.1.325).

The client asks our hooks with the parent's session and the agent's id, and puts what SessionStart
says into the agent's next request. Its summary request carries the agent's id too, and no
`compact_boundary` comes in the event stream, so compactions are counted by summaries here.
"""

from pathlib import Path

import pytest

from tests.trial.cycle import MODEL, SUMMARY, hook_faults
from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ScriptedAnswer, bash, start_agent, usage_of

from .briefs import MOST_TOKENS, after_compactions, briefs, checkpoints, tokens
from .stage import LOUD, Stage, a_stage, hook_settings

pytestmark = pytest.mark.real_client

PARENT_REQUEST = "Please map the harbour. Always write depths in metres."
AGENT_REQUEST = "Count the tide gauges along the coast and report the number."
AGENT_USAGE = (30_000, 60_000, 90_000, 140_000, 169_000, 20_000, 22_000)
OVER = AGENT_USAGE.index(169_000) + 1
PARENT_USAGE = (100_000, 169_000, 20_000, 22_000)


@pytest.fixture(scope="session")
def run(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trial, Stage]:
    """First the agent's window is compacted, later its parent's."""
    stage = a_stage(tmp_path_factory.mktemp("agent"))
    trial = run_trial(
        *(binary, stage.project, stage.home, _script()),
        prompt=PARENT_REQUEST,
        model=MODEL,
        settings=hook_settings(),
        env=LOUD,
        patient=True,
    )
    return trial, stage


def _script() -> Acts:
    main = [
        ScriptedAnswer("Sounding.", (bash("echo sounding"),), usage_of(20_000)),
        ScriptedAnswer("Let an agent count.", (start_agent(AGENT_REQUEST),), usage_of(30_000)),
        *_rounds("chart", PARENT_USAGE),
    ]
    report = ScriptedAnswer("There are 14 gauges.", usage=usage_of(23_000))
    summary = ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))
    return Acts(main, agent=[*_rounds("tide", AGENT_USAGE), report], summary=[summary] * 2)


def _rounds(word: str, usages: tuple[int, ...]) -> list[ScriptedAnswer]:
    return [
        ScriptedAnswer(f"{word} {n}.", (bash(f"sleep 0.15; echo {word}-{n}"),), usage_of(used))
        for n, used in enumerate(usages, start=1)
    ]


@pytest.mark.requirement("X1")
def test_agent_and_parent_compact_without_a_fault(run: tuple[Trial, Stage]) -> None:
    trial, _ = run
    agent_id = trial.asked("agent")[0].agent_id
    assert agent_id
    assert [request.agent_id for request in trial.asked("summary")] == [agent_id, ""]
    assert hook_faults(trial) == []
    assert (trial.exit_code, trial.timed_out) == (0, False)


@pytest.mark.requirement("B2", "W5")
def test_the_agents_next_request_has_the_brief_of_the_agents_own_work(
    run: tuple[Trial, Stage],
) -> None:
    of_agent, _ = after_compactions(run[0])
    [brief] = briefs(of_agent)
    assert AGENT_REQUEST in brief
    assert f"echo tide-{OVER}" in brief
    assert "map the harbour" not in brief
    assert "echo sounding" not in brief
    assert tokens(brief) <= MOST_TOKENS


@pytest.mark.requirement("B2", "W5")
def test_the_parent_is_given_nothing_of_the_agents_brief(run: tuple[Trial, Stage]) -> None:
    trial, _ = run
    _, of_parent = after_compactions(trial)
    before = [r for r in trial.asked("main") if r.number < of_parent.number]
    assert [brief for request in before for brief in briefs(request)] == []
    [brief] = briefs(of_parent)
    assert PARENT_REQUEST in brief
    assert "echo chart-2" in brief
    assert "echo tide-" not in brief


@pytest.mark.requirement("B2", "W5")
def test_the_agent_is_given_nothing_before_its_compaction(run: tuple[Trial, Stage]) -> None:
    trial, _ = run
    before = trial.asked("agent")[:OVER]
    assert [brief for request in before for brief in briefs(request)] == []


@pytest.mark.requirement("C4", "W5")
def test_agent_and_parent_have_checkpoints_of_their_own(
    run: tuple[Trial, Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial, stage = run
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    agent_id = trial.asked("agent")[0].agent_id
    kept = checkpoints(stage.project)
    assert {one.session_id for one in kept} == {trial.session_id}
    assert {one.agent_id for one in kept} == {"", agent_id}
    for one in kept:
        said = "\n".join(one.sections["Why Changed"])
        assert (AGENT_REQUEST in said, PARENT_REQUEST in said) == (
            one.agent_id == agent_id,
            one.agent_id == "",
        )

"""`/compact` asked for by the user, headless: kept, and given back when the session is resumed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.trial.cycle import MODEL, SUMMARY, compactions, hook_faults, rounds
from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ScriptedAnswer, usage_of

from .briefs import MOST_TOKENS, briefs, checkpoints, tokens
from .stage import LOUD, Stage, a_stage, hook_settings

pytestmark = pytest.mark.real_client

RULE = "Always write depths in metres."
REQUEST = "Please map the harbour."


class Runs(NamedTuple):
    stage: Stage
    before: Trial
    compacted: Trial
    resumed: Trial


def _say(binary: Path, stage: Stage, words: str, settings: Mapping[str, Any], *args: str) -> Trial:
    script = Acts(
        rounds((20_000, 30_000, 40_000)),
        summary=[ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))],
    )
    return run_trial(
        *(binary, stage.project, stage.home, script),
        prompt=words,
        model=MODEL,
        settings=settings,
        env=LOUD,
        args=args,
        timeout=60,
        patient=True,
    )


def _runs(binary: Path, stage: Stage) -> Runs:
    before = _say(binary, stage, f"{REQUEST} {RULE}", {})
    resume = ("--resume", before.session_id)
    compacted = _say(binary, stage, "/compact", hook_settings(), *resume)
    resumed = _say(binary, stage, "Go on.", hook_settings(), *resume)
    return Runs(stage, before, compacted, resumed)


@pytest.fixture(scope="session")
def runs(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Our hooks come only with the `/compact`: nothing of the session was kept before."""
    return _runs(binary, a_stage(tmp_path_factory.mktemp("manual")))


@pytest.mark.requirement("X1", "C4")
def test_a_manual_compaction_passes_without_a_fault(runs: Runs) -> None:
    trials = runs.before, runs.compacted, runs.resumed
    assert {trial.session_id for trial in trials} == {runs.before.session_id}
    assert [(trial.exit_code, trial.timed_out) for trial in trials] == [(0, False)] * 3
    assert [fault for trial in trials for fault in hook_faults(trial)] == []
    assert [compactions(trial) for trial in trials] == [0, 1, 0]


@pytest.mark.requirement("C4")
def test_it_leaves_a_checkpoint_with_its_trigger(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(runs.stage.holdfast_home))
    kept = checkpoints(runs.stage.project)
    assert [one.trigger for one in kept] == ["manual", "session-end"]
    assert kept[0].session_id == runs.before.session_id
    assert RULE in "\n".join(kept[0].sections["Why Changed"])


@pytest.mark.requirement("B2")
def test_the_resumed_session_begins_with_the_brief(runs: Runs) -> None:
    given = briefs(runs.resumed.asked("main")[0])
    [brief] = [one for one in given if ", just compacted:" in one]
    assert RULE in brief
    assert REQUEST in brief
    assert tokens(brief) <= MOST_TOKENS


@pytest.mark.requirement("B1")
def test_the_summariser_is_told_what_to_keep(runs: Runs) -> None:
    [request] = runs.compacted.asked("summary")
    steered = str(request.body["messages"][-1]).rpartition("Additional Instructions")[2]
    assert RULE in steered
    assert REQUEST in steered


@pytest.mark.requirement("B1", "B15")
def test_what_the_client_shows_of_it_is_short(runs: Runs) -> None:
    """It prints what the hook printed, and the next request holds that again."""
    said = json.dumps(runs.resumed.asked("main")[0].body, ensure_ascii=False)
    shown = said.partition("PreCompact [")[2].partition("PostCompact [")[0]
    assert REQUEST in shown
    assert len(shown.partition("completed successfully: ")[2]) <= 700

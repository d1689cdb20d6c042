"""Moments at which the client does not do the usual thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.client.trial.cycle import rounds
from holdfast.client.trial.heard import compactions, heard, hook_faults
from holdfast.client.trial.patience import wait_for_end
from holdfast.client.trial.run import run_trial
from holdfast.client.trial.script import Acts, Answer, Refusal, Step, bash
from holdfast.wire import spool

from .stage import Stage, perform

pytestmark = pytest.mark.real_client

SUMMARY = [Answer("<summary>Rounds.</summary>")]


@pytest.mark.requirement("G2", "W4")
def test_an_alert_of_the_old_window_is_not_heard_in_the_new_one(binary: Path, stage: Stage) -> None:
    """What an async hook says at the answer that goes over the edge comes after the compaction."""
    usages = (100_000, 105_000, 110_000, 169_000, 12_000, 14_000, 16_000)
    trial = perform(binary, stage, Acts(rounds(usages), summary=SUMMARY))
    assert compactions(trial) == 1
    assert [heard(request) for request in trial.asked("main")[4:]] == [[]] * 4


@pytest.mark.requirement("X1")
def test_a_late_compaction_after_a_refusal_breaks_no_hook(binary: Path, stage: Stage) -> None:
    """Sonnet 4.5 does not compact ahead of time: only the API's 400 makes it."""
    main: list[Step] = [*rounds((150_000, 199_000)), Refusal(), *rounds((12_000,))]
    trial = perform(binary, stage, Acts(main, summary=SUMMARY), model="claude-sonnet-4-5")
    assert compactions(trial) == 1
    assert hook_faults(trial) == []


@pytest.mark.requirement("W1")
def test_the_reading_after_a_quick_call_is_of_the_newest_answer(binary: Path, stage: Stage) -> None:
    """The client writes an answer up to 67 ms late; a quick call's hook may start before that."""
    usages = range(20_000, 60_000, 4_000)
    trial = perform(binary, stage, Acts(rounds(usages, pause_seconds=0)))
    window = stage.windows(trial.session_id)["main"]
    calls = [line for line in spool.lines(str(window)) if line.event == "PostToolUse"]
    assert [line.used for line in calls] == pytest.approx(usages, abs=1_500)


@pytest.mark.requirement("W3")
def test_a_configured_window_moves_the_edge_of_a_large_model(binary: Path, stage: Stage) -> None:
    """Newer models read our text in messages of role system, bare."""
    script = Acts(rounds((120_000, 127_000, 128_000, 129_000)))
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
    trial = perform(binary, stage, script, model="claude-opus-5-5", **window)
    said = heard(trial.asked("main")[-1])
    assert len(said) == 1
    assert "of 167,000 tokens" in said[0]


def test_a_run_that_does_not_end_is_ended_with_all_it_started(binary: Path, stage: Stage) -> None:
    note = stage.project / "command-id"
    command = bash(f"echo $$ > {note}; sleep 600")
    trial = run_trial(
        *(binary, stage.project, stage.home), Acts([Answer("", (command,))]), settings={}, timeout=8
    )
    assert trial.timed_out
    assert wait_for_end(int(note.read_text()), 10)

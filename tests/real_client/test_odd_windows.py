"""Moments at which the client does not do the usual thing."""

import json
from pathlib import Path

import pytest

from holdfast.wire import spool
from tests.trial.cycle import compactions, hook_faults, our_texts, rounds
from tests.trial.run import run_trial
from tests.trial.script import Acts, ScriptedAnswer, ScriptedError, Step, start_agent, usage_of

from .stage import LOUD, Stage, hook_settings, perform

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]

SUMMARY = [ScriptedAnswer("<summary>Rounds.</summary>")]


@pytest.mark.requirement("G2", "W4")
def test_an_alert_of_the_old_window_is_not_heard_in_the_new_one(binary: Path, stage: Stage) -> None:
    """What an async hook says at the answer that goes over the edge comes after the compaction."""
    usages = (100_000, 105_000, 110_000, 169_000, 12_000, 14_000, 16_000)
    trial = perform(binary, stage, Acts(rounds(usages), summary=SUMMARY))
    assert compactions(trial) == 1
    assert [our_texts(request) for request in trial.asked("main")[4:]] == [[]] * 4


@pytest.mark.requirement("X1")
def test_a_late_compaction_after_a_refusal_breaks_no_hook(binary: Path, stage: Stage) -> None:
    """Sonnet 4.5 does not compact ahead of time: only the API's 400 makes it."""
    main: list[Step] = [*rounds((150_000, 199_000)), ScriptedError(), *rounds((12_000,))]
    trial = perform(binary, stage, Acts(main, summary=SUMMARY), model="claude-sonnet-4-5")
    assert compactions(trial) == 1
    assert hook_faults(trial) == []


@pytest.mark.requirement("W1")
def test_the_reading_after_a_quick_call_is_of_the_newest_answer(binary: Path, stage: Stage) -> None:
    """The client writes an answer up to 67 ms late; a quick call's hook may start before that. The
    hook waits a little; on a busy machine one answer may come later still."""
    usages = range(20_000, 60_000, 4_000)
    trial = perform(binary, stage, Acts(rounds(usages, pause_seconds=0)))
    window = stage.windows(trial.session_id)["main"]
    calls = [line for line in spool.lines(str(window)) if line.event == "PostToolUse"]
    off = [line.used - used for line, used in zip(calls, usages, strict=True)]
    late = [tokens for tokens in off if abs(tokens) > 1_500]
    assert len(late) <= 1 and max(off) <= 1_500, "late once at most, and never above the truth"


@pytest.mark.requirement("W3")
def test_a_configured_window_moves_the_edge_of_a_large_model(binary: Path, stage: Stage) -> None:
    """Newer models read our text in messages of role system, bare."""
    script = Acts(rounds((120_000, 127_000, 128_000, 129_000)))
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
    trial = perform(binary, stage, script, model="claude-opus-5-5", **window)
    said = our_texts(trial.asked("main")[-1])
    assert len(said) == 1
    assert "76% of the way to compaction" in said[0], "127,000 of 167,000 tokens"


def _preceding(stage: Stage, pattern: str) -> list[int]:
    """What each compaction in these transcripts says was in the window before it."""
    lines = [
        json.loads(line)
        for path in (stage.home / ".claude" / "projects").glob(pattern)
        for line in path.read_text().splitlines()
    ]
    told = [line for line in lines if line.get("subtype") == "compact_boundary"]
    return [line["compactMetadata"]["preTokens"] for line in told]


@pytest.mark.requirement("W10")
def test_a_window_set_for_one_model_moves_its_limit(binary: Path, stage: Stage) -> None:
    """In the settings file of the project, over a window for all models in the user's."""
    model = "claude-opus-5-5"
    place = stage.project / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text(json.dumps({"modelSettings": {model: {"autoCompactWindow": 200_000}}}))
    script = Acts(rounds((120_000, 128_000, 129_000, 169_000, 20_000)), summary=SUMMARY)
    trial = run_trial(
        *(binary, stage.project, stage.home, script),
        model=model,
        settings={**hook_settings(), "autoCompactWindow": 300_000},
        env=LOUD,
        patient=True,
    )
    assert compactions(trial) == 1
    assert _preceding(stage, "*/*.jsonl") == pytest.approx([169_000], abs=100)
    state = json.loads((stage.windows(trial.session_id)["main"] / "state.json").read_text())
    assert state["edge_tokens"] == 167_000
    assert state["edge_source"] == f"setting modelSettings.{model}.autoCompactWindow"


@pytest.mark.requirement("W10")
def test_a_window_set_for_an_agent_moves_the_limit_of_that_agent(
    binary: Path, stage: Stage
) -> None:
    place = stage.project / ".claude" / "agents" / "counter.md"
    place.parent.mkdir(parents=True)
    words = "name: counter\ndescription: counts tide gauges\nautoCompactWindow: 120000"
    place.write_text(f"---\n{words}\n---\nYou count.\n")
    main = [
        ScriptedAnswer(
            "Let an agent count.",
            (start_agent("Count the tide gauges.", "counter"),),
            usage_of(60_000),
        )
    ]
    agent = [
        *rounds((70_000, 86_000, 88_500, 20_000)),
        ScriptedAnswer("14.", usage=usage_of(21_000)),
    ]
    trial = perform(binary, stage, Acts(main, agent=agent, summary=SUMMARY))
    assert _preceding(stage, "*/*/subagents/*.jsonl") == pytest.approx([88_500], abs=100)
    windows = stage.windows(trial.session_id)
    [own] = [folder for name, folder in windows.items() if name.startswith("agent-")]
    assert json.loads((own / "state.json").read_text())["edge_tokens"] == 87_000
    assert json.loads((windows["main"] / "state.json").read_text())["edge_tokens"] == 167_000

"""What the API really received around compactions: the steering, the brief, the second brief."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.brief.compose import CONTINUES, TO_BE_CONTINUED
from holdfast.checkpoint.verify import verify
from tests.real_client.stage import LOUD, Stage, a_stage, hook_settings
from tests.trial.cycle import MODEL, SUMMARY, compactions, hook_faults
from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ReceivedRequest, ScriptedAnswer, bash, usage_of

pytestmark = pytest.mark.real_client

RULE = "Always run `make check` before you commit, and never touch data/raw."
PROMPT = f"Please teach the parser to read two headings. {RULE}"
USAGE = (30_000, 60_000, 90_000, 169_000, 20_000, 60_000, 169_500, 21_000, 22_000)


@pytest.fixture(scope="module")
def trial(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trial, Stage]:
    """Two compactions in a row in one session."""
    stage = a_stage(tmp_path_factory.mktemp("given-back"))
    rounds = [
        ScriptedAnswer(
            f"Round {n}.", (bash(f"sleep 0.1; echo gauge-{n} > out-{n}.txt"),), usage_of(used)
        )
        for n, used in enumerate(USAGE, start=1)
    ]
    summary = [ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))] * 2
    done = run_trial(
        *(binary, stage.project, stage.home, Acts(rounds, summary=summary)),
        prompt=PROMPT,
        model=MODEL,
        settings=hook_settings(),
        env=LOUD,
        patient=True,
    )
    return done, stage


def _text(request: ReceivedRequest) -> str:
    return json.dumps(request.body, ensure_ascii=False)


@pytest.mark.requirement("X1", "C4")
def test_two_compactions_pass_without_a_fault(trial: tuple[Trial, Stage]) -> None:
    done, stage = trial
    assert hook_faults(done) == []
    assert compactions(done) == 2
    kept = sorted((stage.project / ".claude" / "checkpoints").glob("*.md"))
    assert len(kept) >= 2
    assert all(verify(str(path)).ok or "index" in str(verify(str(path)).findings) for path in kept)


@pytest.mark.requirement("B1")
def test_the_summariser_is_told_to_keep_the_rule(trial: tuple[Trial, Stage]) -> None:
    for request in trial[0].asked("summary"):
        steered = _text(request).rpartition("Additional Instructions")[2]
        assert "never touch data/raw" in steered


@pytest.mark.requirement("B2", "B4", "B8")
def test_the_next_request_holds_the_brief_once_with_rule_and_request(
    trial: tuple[Trial, Stage],
) -> None:
    after = [r for r in trial[0].asked("main") if "<holdfast-brief" in _text(r)]
    assert after
    first = _text(after[0])
    brief = first.partition("<holdfast-brief")[2].partition("</holdfast-brief>")[0]
    assert "never touch data/raw" in brief
    assert "teach the parser to read two headings" in brief
    assert "sleep 0.1; echo gauge-" in brief
    assert len(brief) / 3.5 <= 2_000


@pytest.mark.requirement("B2")
def test_a_long_session_has_both_halves_of_its_brief_in_the_next_request(
    binary: Path, tmp_path: Path
) -> None:
    stage = a_stage(tmp_path)
    words = " ".join(f"Rule {n}: pier {n} stays closed." for n in range(300))
    rounds = [
        ScriptedAnswer(
            f"Finding {n}: {'the gauge reads low, and the tide is late; ' * 6}.",
            (bash(f"echo gauge {n % 12} of {'tides ' * 20}; seq -s ' ' {n % 12} 260"),),
            usage_of(used),
        )
        for n, used in enumerate((*range(30_000, 160_000, 3_000), 169_000, 20_000))
    ]
    summary = [ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))]
    done = run_trial(
        *(binary, stage.project, stage.home, Acts(rounds, summary=summary)),
        prompt=words,
        model=MODEL,
        settings=hook_settings(),
        env=LOUD,
        patient=True,
    )
    assert (compactions(done), hook_faults(done)) == (1, [])
    [after, *_] = [r for r in done.asked("main") if "<holdfast-brief" in _text(r)]
    briefs = [
        part.partition("</holdfast-brief>")[0] for part in _text(after).split("<holdfast-brief")[1:]
    ]
    assert len(briefs) == 2
    [first] = [text for text in briefs if TO_BE_CONTINUED in text]
    [second] = [text for text in briefs if CONTINUES in text]
    assert "pier 0 stays closed" in first
    assert "Finding 40" in second
    assert all(f"echo gauge {n} of" in first + second for n in range(12))
    assert "persisted-output" not in _text(after), "an output over 10,000 characters"


@pytest.mark.requirement("B6")
def test_no_brief_is_in_a_request_twice(trial: tuple[Trial, Stage]) -> None:
    for request in trial[0].asked("main"):
        briefs = _text(request).split("<holdfast-brief")[1:]
        assert len(briefs) == len(set(briefs))
        assert len(briefs) <= 2


@pytest.mark.requirement("B4")
def test_after_the_second_compaction_the_rule_still_holds(trial: tuple[Trial, Stage]) -> None:
    last = _text(trial[0].asked("main")[-1])
    assert "never touch data/raw" in last

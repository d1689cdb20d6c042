"""A long session gets both halves of its brief, in the real client."""

import json
from pathlib import Path

import pytest

from holdfast.brief.compose import CONTINUES, TO_BE_CONTINUED
from tests.real_client.stage import LOUD, a_stage, hook_settings
from tests.trial.cycle import MODEL, SUMMARY, compactions, hook_faults
from tests.trial.run import run_trial
from tests.trial.script import Acts, ReceivedRequest, ScriptedAnswer, bash, usage_of

pytestmark = pytest.mark.real_client


def _text(request: ReceivedRequest) -> str:
    return json.dumps(request.body, ensure_ascii=False)


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

"""A window that refills at once, in the real client: the alert before it gives up."""

from pathlib import Path

import pytest

from tests.trial.cycle import OVER, SUMMARY, compactions, our_texts, rounds
from tests.trial.script import Acts, ScriptedAnswer, usage_of

from .stage import Stage, perform

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]
ALARM = "compacted twice within 3 steps; a third time may end the turn"
# Each new window is full with its first answer: what is fixed leaves no room.
USAGES = (60_000, 100_000, OVER, OVER, OVER, OVER, OVER)


@pytest.mark.requirement("B6", "G2")
def test_model_and_user_hear_the_alarm_before_the_client_gives_up(
    binary: Path, stage: Stage
) -> None:
    summary = [ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200)) for _ in range(5)]
    trial = perform(binary, stage, Acts(rounds(USAGES), summary=summary))
    assert (trial.exit_code, compactions(trial)) == (1, 3)  # "Autocompact is thrashing"
    told = [text for request in trial.asked("main") for text in our_texts(request) if ALARM in text]
    assert len(told) == 1
    shown = [event for event in trial.events if ALARM in str(event.get("content", ""))]
    assert len(shown) == 1

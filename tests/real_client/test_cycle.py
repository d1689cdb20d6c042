"""Fill, alert, compaction, refill: what the API received, with the real client in between."""

import json
from collections import Counter

import pytest

from holdfast.text.fence import TAG
from tests.trial.cycle import (
    EDGE_TOKENS,
    FILL,
    REFILL,
    compactions,
    cycle_usage,
    hook_faults,
    our_texts,
)
from tests.trial.run import Trial
from tests.trial.script import ReceivedRequest

pytestmark = pytest.mark.real_client
STEERS = "Keep these word for word in the summary:"

# Percent of the edge at which the model is told; at 50 and 70 only the log is.
TOLD_AT = (75, 85, 90, 93, 97)
USAGE = cycle_usage(refill=True)


def _before(trial: Trial) -> list[ReceivedRequest]:
    """The main requests up to the compaction; request n+1 is the first that knows answer n."""
    return trial.asked("main")[: len(FILL) + 1]


def _after(trial: Trial) -> list[ReceivedRequest]:
    return trial.asked("main")[len(FILL) + 1 :]


def _crossings() -> dict[int, int]:
    """For each told mark, the number (from 0) of the answer that crossed it."""
    return {
        mark: next(n for n, used in enumerate(FILL) if used * 100 >= mark * EDGE_TOKENS)
        for mark in TOLD_AT
    }


def _first_heard(requests: list[ReceivedRequest]) -> dict[str, int]:
    """Each text, with the number of the request that had it first."""
    first: dict[str, int] = {}
    for number, request in enumerate(requests):
        for text in our_texts(request):
            first.setdefault(text, number)
    return first


@pytest.mark.requirement("X1")
def test_the_client_holds_nothing_against_our_hooks(with_hooks: Trial) -> None:
    assert hook_faults(with_hooks) == []
    assert (with_hooks.exit_code, with_hooks.timed_out) == (0, False)


@pytest.mark.requirement("U2", "B1", "B2")
def test_the_client_passes_our_words_to_the_summariser_and_the_brief_to_the_model(
    with_hooks: Trial,
) -> None:
    assert any(STEERS in json.dumps(one.body) for one in with_hooks.asked("summary"))
    at = next(n for n, one in enumerate(with_hooks.requests) if one.kind == "summary")
    after = next(one for one in with_hooks.requests[at:] if one.kind == "main")
    assert f"<{TAG} " in json.dumps(after.body)


def test_our_hooks_run_at_every_event_of_the_cycle(with_hooks: Trial) -> None:
    ran = {run.event for run in with_hooks.hooks}
    # SessionEnd and the two of a compaction are not in the client's event stream.
    assert ran >= {"SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop"}
    for event in ("PreCompact:auto", "PostCompact:auto"):
        assert f"{event} [" in with_hooks.debug_log


def test_the_client_compacts_once(with_hooks: Trial) -> None:
    assert compactions(with_hooks) == 1
    assert len(with_hooks.asked("summary")) == 1


@pytest.mark.requirement("G2", "G5")
def test_every_told_mark_is_heard_and_nothing_else(with_hooks: Trial) -> None:
    assert len(_first_heard(_before(with_hooks))) == len(TOLD_AT)


@pytest.mark.requirement("G5")
def test_nothing_is_said_twice(with_hooks: Trial) -> None:
    said = Counter(our_texts(_before(with_hooks)[-1]))
    assert said
    assert set(said.values()) == {1}


@pytest.mark.requirement("G5")
def test_an_alert_is_heard_within_two_requests_of_its_crossing(with_hooks: Trial) -> None:
    heard_at = sorted(_first_heard(_before(with_hooks)).values())
    late = [at - crossed for at, crossed in zip(heard_at, _crossings().values(), strict=True)]
    assert all(1 <= requests <= 2 for requests in late), late


@pytest.mark.requirement("G5")
def test_an_alert_costs_at_most_60_tokens(with_hooks: Trial) -> None:
    texts = {text for request in with_hooks.requests for text in our_texts(request)}
    assert texts
    assert [text for text in texts if len(text) / 3.5 > 60] == []


@pytest.mark.requirement("W4", "G2")
def test_after_a_compaction_nothing_is_said_until_the_window_has_refilled(
    with_hooks: Trial,
) -> None:
    after = _after(with_hooks)
    refilled = len(after) - len(REFILL)  # the request that follows the first large answer
    assert [our_texts(request) for request in after[:refilled]] == [[]] * refilled


@pytest.mark.requirement("G2")
def test_a_refilled_window_is_alerted_again(with_hooks: Trial) -> None:
    assert our_texts(_after(with_hooks)[-1])


@pytest.mark.requirement("X3")
def test_our_hooks_cause_no_request_of_their_own(with_hooks: Trial, without_hooks: Trial) -> None:
    def kinds(trial: Trial) -> list[str]:
        return [request.kind for request in trial.requests]

    assert kinds(with_hooks) == kinds(without_hooks)
    assert len(without_hooks.asked("main")) == len(USAGE) + 1

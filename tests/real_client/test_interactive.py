"""The cycle in a terminal: a prompt is typed, the window fills, and the brief is given back."""

import re
from pathlib import Path

import pytest

from holdfast.setup.wiring import status_line
from tests.trial.cycle import SUMMARY, rounds
from tests.trial.run import skipped_hooks
from tests.trial.script import Acts, ScriptedAnswer, usage_of

from .briefs import MOST_TOKENS, briefs, checkpoints, tokens
from .stage import Stage, a_stage, hook_settings
from .terminal import Terminal, in_a_terminal

pytestmark = pytest.mark.real_client

RULE = "Always write depths in metres."
REQUEST = "Please map the harbour."
USAGE = (30_000, 80_000, 120_000, 169_000, 20_000, 22_000)
READY = "\u276f"  # the mark before the words being typed
TURN_ENDED = "Hooks: Stop ["
# What the client paints (blanks left out) and notes when a hook exits 1 or says nonsense; seen.
ON_SCREEN = re.compile(r"hookerror|\]failed:|validationfailed")
IN_LOG = re.compile(r"(?:completed|finished) with status [1-9].*|JSON output validation failed.*")


@pytest.fixture(scope="session")
def ended(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Terminal, Stage]:
    """One sitting: a request, an automatic compaction, `/compact`, one more prompt, `/exit`."""
    stage = a_stage(tmp_path_factory.mktemp("interactive"))
    ours = {**hook_settings(), "statusLine": status_line(), "permissions": {"allow": ["Bash"]}}
    main = [*rounds(USAGE), ScriptedAnswer("All mapped.", usage=usage_of(23_000))]
    summary = [ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))] * 2
    script = Acts(main, summary=summary)
    with in_a_terminal(binary, stage, script, ours) as terminal:
        terminal.wait(lambda: READY in terminal.painted)
        terminal.type_line(f"{REQUEST} {RULE}")
        terminal.wait(lambda: TURN_ENDED in terminal.debug_log)
        terminal.wait(lambda: "▓" in terminal.painted)
        terminal.type_line("/compact")
        terminal.wait(lambda: "PostCompact:manual [" in terminal.debug_log)
        terminal.type_line("Go on.")
        terminal.wait(lambda: terminal.debug_log.count(TURN_ENDED) == 2)
        terminal.type_line("/exit")
        assert terminal.ended_within(20)
    return terminal, stage


@pytest.mark.requirement("B2")
def test_the_next_request_after_an_automatic_compaction_has_the_brief(
    ended: tuple[Terminal, Stage],
) -> None:
    terminal, _ = ended
    over = USAGE.index(169_000) + 1
    assert [briefs(request) for request in terminal.asked("main")[:over]] == [[]] * over
    _assert_given_back(terminal, over)


@pytest.mark.requirement("B2", "C4")
def test_the_next_request_after_a_typed_compact_has_the_brief(
    ended: tuple[Terminal, Stage],
) -> None:
    terminal, _ = ended
    assert len(terminal.asked("summary")) == 2
    assert len(terminal.asked("main")) == len(USAGE) + 2
    _assert_given_back(terminal, -1)


@pytest.mark.requirement("X1")
def test_nothing_is_held_against_our_hooks_on_the_screen_or_in_the_log(
    ended: tuple[Terminal, Stage],
) -> None:
    terminal, stage = ended
    assert list(skipped_hooks(stage.holdfast_home)) == []
    assert "PreCompact:auto [" in terminal.debug_log
    assert ON_SCREEN.findall(terminal.painted) == []
    assert IN_LOG.findall(terminal.debug_log) == []


@pytest.mark.requirement("C4")
def test_both_compactions_left_a_checkpoint(
    ended: tuple[Terminal, Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, stage = ended
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    kept = [one.trigger for one in checkpoints(stage.project)]
    assert kept[-2:] == ["manual", "session-end"]
    assert {"auto", "guard"} & set(kept[:-2])


def test_the_status_line_is_ours_from_the_start(ended: tuple[Terminal, Stage]) -> None:
    terminal, _ = ended
    assert "holdfast:thefillisknownafterthefirstanswer" in terminal.painted
    assert re.search(r"▓+░+\d+%", terminal.painted)


def _assert_given_back(terminal: Terminal, number: int) -> None:
    [brief] = briefs(terminal.asked("main")[number])
    assert RULE in brief
    assert REQUEST in brief
    assert tokens(brief) <= MOST_TOKENS

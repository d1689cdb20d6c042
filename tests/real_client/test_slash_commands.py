"""`/holdfast:plan` and `/holdfast:compress` as the user types them, headless and in a terminal.

No shell command is allowed but what the commands themselves allow, and the scripted model does what
it is told: it runs what the expanded prompt quotes.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.segment import library
from tests.segment.library_builders import a_segment, kept
from tests.trial.cycle import MODEL, hook_faults, texts
from tests.trial.run import Trial, run_trial
from tests.trial.script import ReceivedRequest, ScriptedAnswer, Step, bash, usage_of

from .installed import install, results
from .stage import LOUD, Stage, a_stage
from .terminal import Terminal, in_a_terminal

pytestmark = pytest.mark.real_client

PLAN = "# Harbour\n- [ ] Measure the tide\n  - size: 60k\n- [ ] Draw the chart\n  - size: 5k\n"
QUOTED = re.compile(r"`(\S*holdfast (?:plan|segments) [^`]*)`")
HEADLESS = "5e55e55e-0000-4000-8000-000000000007"
READY = "\u276f"  # the mark before the words being typed
TURN_ENDED = "Hooks: Stop ["
BETTER = "The tide table\u2019s heights are in metres (`m`), $(pwd) or not; see #3 > 2."
Say = Callable[[ReceivedRequest], Step]


class ScriptedSession:
    """One step for each main request; the others are answered in a word."""

    def __init__(self, steps: Sequence[Say]) -> None:
        self._steps = list(steps)

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.kind != "main" or not self._steps:
            return ScriptedAnswer("Fine.", usage=usage_of(60_000))
        return self._steps.pop(0)(request)


def _quoted(request: ReceivedRequest, words: str) -> str:
    said: list[str] = [
        one for text in texts(request.body["messages"]) for one in QUOTED.findall(text)
    ]
    return next(one for one in reversed(said) if words in one)


def _run(words: str) -> Say:
    return lambda request: ScriptedAnswer("!", (bash(_quoted(request, words)),), usage_of(61_000))


def _save(request: ReceivedRequest) -> Step:
    """In better words, as the quoted example has it."""
    [mine] = _listed(request)
    words = {
        "segment_id": mine["segment_id"],
        "compressed_content": BETTER,
        "key_decisions": ["$HOME; metres, not feet {a,b} & so on"],
        "key_files": ["tide.md"],
    }
    command, _, example = _quoted(request, "segments save").partition("'")
    assert json.loads(example.rstrip("'")).keys() == words.keys()
    command += f"'{json.dumps(words, ensure_ascii=False)}'"
    return ScriptedAnswer("!", (bash(command),), usage_of(62_000))


def _listed(request: ReceivedRequest) -> list[dict[str, Any]]:
    found = [_shown(one) for one in results(request)]
    text = next(one for one in reversed(found) if one.startswith("{") and "warm" in one)
    listed: list[dict[str, Any]] = json.JSONDecoder().raw_decode(text)[0]["warm"]
    return listed


def _shown(result: str) -> str:
    content = json.loads(result)["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def _end(_: ReceivedRequest) -> Step:
    return ScriptedAnswer("That is it.", usage=usage_of(63_000))


PLANNING = (_run(" plan "), _end)
COMPRESSING = (_run("segments --here"), _save, _end)


class Ran(NamedTuple):
    stage: Stage
    terminal: Terminal
    planned: Trial
    compressed: Trial


@pytest.fixture(scope="session")
def ran(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Both in one sitting, then each headless; every session has one segment of its own."""
    stage = a_stage(tmp_path_factory.mktemp("slash"))
    (stage.project / "plan.md").write_text(PLAN)
    install(stage)
    with in_a_terminal(binary, stage, ScriptedSession([*PLANNING, *COMPRESSING]), None) as terminal:
        terminal.wait(lambda: READY in terminal.painted)
        terminal.type_line("/holdfast:plan plan.md")
        terminal.wait(lambda: TURN_ENDED in terminal.debug_log)
        [session_id] = [path.name for path in (stage.holdfast_home / "windows").iterdir()]
        _archive(stage, session_id, HEADLESS)
        terminal.type_line("/holdfast:compress")
        terminal.wait(lambda: terminal.debug_log.count(TURN_ENDED) == 2)
        terminal.type_line("/exit")
        assert terminal.ended_within(20)
    named = ("--session-id", HEADLESS)
    compressed = _headless(binary, stage, "/holdfast:compress", COMPRESSING, *named)
    planned = _headless(binary, stage, "/holdfast:plan plan.md", PLANNING)
    return Ran(stage, terminal, planned, compressed)


def _archive(stage: Stage, *sessions: str) -> None:
    """One segment of each."""
    about = {"project": str(stage.project)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
        for number, session_id in enumerate(sessions, start=1):
            kept(a_segment(f"s{number}_seg_1_0", session_id=session_id, metadata=about))


def _headless(binary: Path, stage: Stage, words: str, steps: Sequence[Say], *args: str) -> Trial:
    return run_trial(
        *(binary, stage.project, stage.home, ScriptedSession(steps)),
        prompt=words,
        model=MODEL,
        env=LOUD,
        args=args,
        tools="Read",
        patient=True,
    )


@pytest.mark.requirement("U7", "P3", "P4")
def test_a_typed_plan_is_shown_against_the_room_of_this_very_session(ran: Ran) -> None:
    for requests in (ran.terminal.asked("main"), ran.planned.asked("main")):
        shown = next(text for one in requests for text in map(_shown, results(one)))
        assert "Harbour: 1 batch" in shown
        assert "tokens in this session" in shown
        assert "of 167,000 tokens used" in " ".join(shown.split())


@pytest.mark.requirement("U7", "R3")
def test_a_typed_compress_gives_the_model_the_segments_of_this_session_alone(ran: Ran) -> None:
    for number, asked in enumerate((ran.terminal.asked, ran.compressed.asked), start=1):
        listed = [one["segment_id"] for one in _listed(asked("main")[-1])]
        assert listed == [f"s{number}_seg_1_0"]


@pytest.mark.requirement("U7", "R3")
def test_the_models_words_are_taken_in_without_a_question(
    ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(ran.stage.holdfast_home))
    assert [one.compressed_content for one in library.warm()] == [BETTER] * 2
    assert [one.metadata.written_by for one in library.warm()] == ["model"] * 2


@pytest.mark.requirement("X1")
def test_nothing_is_held_against_us_headless(ran: Ran) -> None:
    for trial in (ran.planned, ran.compressed):
        assert hook_faults(trial) == []
        assert (trial.exit_code, trial.timed_out) == (0, False)

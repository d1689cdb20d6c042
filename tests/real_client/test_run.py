"""A plan of three batches with the real client: killed in the second, run again, each done once.

The conductor itself is the confined program, so that every client it starts is confined with it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.client.trial.cycle import MODEL
from holdfast.client.trial.heard import texts
from holdfast.client.trial.home import notes_folder, prepare_home, trial_environment
from holdfast.client.trial.namespace import confined
from holdfast.client.trial.patience import children_of, wait_for_end
from holdfast.client.trial.script import Answer, Received, Script, Step, bash, usage_of
from holdfast.client.trial.scripted_api import ScriptedApi

from .stage import LOUD, Stage, a_stage, hook_settings

pytestmark = pytest.mark.real_client
PLAN = """# Harbour
- [ ] Measure the tide
  - estimate: 80k
- [ ] Draw the chart
  - estimate: 80k
  - depends: Measure the tide
- [ ] Write the log
  - estimate: 80k
  - depends: Draw the chart
"""
NESTED = f"; {sys.executable} -m holdfast.cli run plan.md; echo refused with $?"
BATCH = re.compile(r"This is batch (\d) of (\d)")
ENDED = "The work of batch {} is over."


def _text(request: Received) -> str:
    return json.dumps(request.body.get("messages"), ensure_ascii=False)


def _told(request: Received) -> str:
    """What the prompt quotes of the sessions before."""
    said = [text for text in texts(request.body.get("messages")) if BATCH.match(text.lstrip())]
    return said[0].partition("From the sessions before:")[2]


def _batch(request: Received) -> int:
    """Of the prompt itself: a brief or an offered checkpoint may quote an earlier one."""
    found = [BATCH.match(text.lstrip()) for text in texts(request.body.get("messages"))]
    return next((int(one.group(1)) for one in found if one), 0)


@dataclass
class Model:
    """One tool call for each session, then the end; in batch 2, `deed` comes before any answer."""

    deed: Callable[[], None] | None = None
    answered: dict[int, int] = field(default_factory=dict)

    def __call__(self, request: Received) -> Step:
        batch = _batch(request) if request.kind == "main" else 0
        if not batch:
            return Answer("Fine.", usage=usage_of(1_000))
        if batch == 2 and "tool_result" in _text(request) and self.deed is not None:
            deed, self.deed = self.deed, None
            deed()
            return Answer("Too late.", usage=usage_of(30_000))
        if "tool_result" not in _text(request):
            again = NESTED if batch == 3 else ""
            call = bash(f"sleep 0.2; echo buoy-{batch} >> done.txt{again}", f"Mark buoy {batch}")
            return Answer(f"Setting buoy {batch}.", (call,), usage_of(20_000))
        self.answered[batch] = self.answered.get(batch, 0) + 1
        return Answer(ENDED.format(batch), usage=usage_of(30_000))


@dataclass(frozen=True)
class Ran:
    code: int
    requests: list[Received]
    answer: dict[str, Any]
    left: frozenset[int]
    errors: str


def _descendants(process_id: int) -> frozenset[int]:
    found: set[int] = set()
    new = {process_id}
    while new:
        new = {child for one in new for child in children_of(one)} - found
        found |= new
    return frozenset(found)


def _run(binary: Path, stage: Stage, script: Script, killer: list[Callable[[], None]]) -> Ran:
    """`holdfast run` as the user says it; `killer` receives what ends the conductor with -9."""
    prepare_home(stage.home, stage.project, dict(hook_settings()))
    out, err = (notes_folder(stage.home) / name for name in ("stdout", "stderr"))
    words = ["run", "plan.md", "--json", "--model", MODEL, "--client-binary", str(binary)]
    command = [sys.executable, "-m", "holdfast.cli", *words, "--", "--allowedTools", "Bash"]
    watched: set[int] = set()
    with ExitStack() as stack:
        stdout, stderr = (stack.enter_context(path.open("wb")) for path in (out, err))
        program = stack.enter_context(
            confined(
                command,
                folder=stage.project,
                environment=trial_environment(stage.home, LOUD),
                stdout=stdout,
                stderr=stderr,
            )
        )

        def kill() -> None:
            watched.update(_descendants(program.process.pid))
            os.kill(program.process.pid, signal.SIGKILL)

        killer.append(kill)
        api = stack.enter_context(ScriptedApi(script, listener=program.listener))
        assert program.ended_within(100)
        left = frozenset(pid for pid in watched if not wait_for_end(pid, 20))
    text = out.read_text()
    answer = json.loads(text) if text else {}
    return Ran(program.process.returncode, list(api.received), answer, left, err.read_text())


@pytest.fixture(scope="module")
def runs(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Ran, Ran, Model]:
    stage = a_stage(tmp_path_factory.mktemp("run"))
    (stage.project / "plan.md").write_text(PLAN)
    killer: list[Callable[[], None]] = []
    model = Model(deed=lambda: killer[0]())
    first = _run(binary, stage, model, killer)
    second = _run(binary, stage, model, killer)
    return stage, first, second, model


Runs = tuple[Stage, Ran, Ran, Model]


@pytest.mark.requirement("P5", "X6")
def test_every_batch_ran_exactly_once_to_its_end(runs: Runs) -> None:
    _, first, second, model = runs
    assert first.code == -signal.SIGKILL
    assert second.code == 0, second.errors
    assert model.answered == {1: 1, 2: 1, 3: 1}
    assert {_batch(one) for one in first.requests if one.kind == "main"} == {1, 2}
    assert {_batch(one) for one in second.requests if one.kind == "main"} == {2, 3}
    assert second.answer["state"] == "done"
    assert second.answer["left"] == []


@pytest.mark.requirement("P5", "X3")
def test_no_claude_outlives_the_conductor(runs: Runs) -> None:
    assert runs[1].left == frozenset()


@pytest.mark.requirement("P5", "B8")
def test_the_brief_of_batch_one_is_in_the_first_request_of_batch_two(runs: Runs) -> None:
    first = next(one for one in runs[1].requests if one.kind == "main" and _batch(one) == 2)
    brief = _told(first)
    assert "<holdfast-brief" in brief
    assert "echo buoy-1 >> done.txt" in brief
    assert brief.count("</holdfast-brief>") == 1


@pytest.mark.requirement("P5")
def test_the_second_try_of_a_batch_hears_of_the_first(runs: Runs) -> None:
    again = next(one for one in runs[2].requests if one.kind == "main" and _batch(one) == 2)
    text = _text(again)
    assert "A session before you began this same work" in text
    assert "echo buoy-2 >> done.txt" in _told(again)


@pytest.mark.requirement("P5", "C4")
def test_a_verified_checkpoint_stands_between_batches(runs: Runs) -> None:
    stage = runs[0]
    kept = [verify(str(one)) for one in (stage.project / ".claude/checkpoints").glob("*.md")]
    by_batch = [one.document for one in kept if one.document and one.document.trigger == "batch"]
    assert len(by_batch) == 3
    assert all(one.ok for one in kept)


@pytest.mark.requirement("G7", "X3")
def test_its_hooks_guard_the_stop_and_worked_as_always(runs: Runs) -> None:
    stage = runs[0]
    states = [
        json.loads(one.read_text()) for one in stage.holdfast_home.glob("windows/*/main/state.json")
    ]
    assert len(states) == 4
    assert all(one["stop_guard"] == 1 for one in states)


@pytest.mark.requirement("X3", "P5")
def test_a_claude_of_a_run_cannot_start_another_run(runs: Runs) -> None:
    last = [one for one in runs[2].requests if _batch(one) == 3][-1]
    assert "refused with 3" in _text(last)
    assert "was itself started by `holdfast run`" in _text(last)

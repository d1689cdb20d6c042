"""A plan of three batches with the real client: killed in the second, run again, each done once."""

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.window import make_mark
from tests.trial.script import (
    ReceivedRequest,
    ScriptedAnswer,
    ScriptedToolCall,
    Step,
    bash,
    usage_of,
)

from .running import Ran, batch_of, run_plan, text_of, told_of
from .stage import Stage, a_stage

pytestmark = pytest.mark.real_client
PLAN = """# Harbour
- [ ] Measure the tide
  - size: 80k
- [ ] Draw the chart
  - size: 80k
  - depends: Measure the tide
- [ ] Write the log
  - size: 80k
  - depends: Draw the chart
"""
NESTED = f"; {sys.executable} -m holdfast.cli run plan.md; echo refused with $?"
ENDED = "The work of batch {} is over."


@dataclass
class Model:
    """One tool call for each session, then the end; in batch 2, `deed` comes before any answer."""

    deed: Callable[[], None] | None = None
    answered: dict[int, int] = field(default_factory=dict)

    def __call__(self, request: ReceivedRequest) -> Step:
        batch = batch_of(request) if request.kind == "main" else 0
        if not batch:
            return ScriptedAnswer("Fine.", usage=usage_of(1_000))
        if batch == 2 and "tool_result" in text_of(request) and self.deed is not None:
            deed, self.deed = self.deed, None
            deed()
            return ScriptedAnswer("Too late.", usage=usage_of(30_000))
        if "tool_result" not in text_of(request):
            again = NESTED if batch == 3 else ""
            call = bash(f"sleep 0.2; echo buoy-{batch} >> done.txt{again}", f"Mark buoy {batch}")
            return ScriptedAnswer(f"Setting buoy {batch}.", (call,), usage_of(20_000))
        self.answered[batch] = self.answered.get(batch, 0) + 1
        return ScriptedAnswer(ENDED.format(batch), (_report(request),), usage_of(30_000))


def _report(request: ReceivedRequest) -> ScriptedToolCall:
    """A report on all tasks that the schema names: all are done."""
    [tool] = [tool for tool in request.body["tools"] if tool["name"] == "StructuredOutput"]
    names = tool["input_schema"]["properties"]["tasks"]["items"]["properties"]["id"]["enum"]
    rows = [{"id": name, "state": "done", "reason": "", "files": ["done.txt"]} for name in names]
    summary = f"Did {', '.join(names)}."
    return ScriptedToolCall("StructuredOutput", {"tasks": rows, "summary": summary})


@pytest.fixture(scope="session")
def runs(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Ran, Ran, Model]:
    stage = a_stage(tmp_path_factory.mktemp("run"))
    (stage.project / "plan.md").write_text(PLAN)
    killer: list[Callable[[], None]] = []
    model = Model(deed=lambda: killer[0]())
    first = run_plan(binary, stage, model, killer)
    second = run_plan(binary, stage, model, killer)
    return stage, first, second, model


Runs = tuple[Stage, Ran, Ran, Model]


@pytest.mark.requirement("P5", "X6")
def test_every_batch_ran_exactly_once_to_its_end(runs: Runs) -> None:
    _, first, second, model = runs
    assert first.code == -signal.SIGKILL
    assert second.code == 0, second.errors
    assert model.answered == {1: 1, 2: 1, 3: 1}
    assert {batch_of(one) for one in first.requests if one.kind == "main"} == {1, 2}
    assert {batch_of(one) for one in second.requests if one.kind == "main"} == {2, 3}
    assert second.answer["state"] == "done"
    assert second.answer["left"] == []


@pytest.mark.requirement("P5", "X3")
def test_no_claude_outlives_the_conductor(runs: Runs) -> None:
    assert runs[1].left == frozenset()


@pytest.mark.requirement("P5", "B8")
def test_the_brief_of_batch_one_is_in_the_first_request_of_batch_two(runs: Runs) -> None:
    first = next(one for one in runs[1].requests if one.kind == "main" and batch_of(one) == 2)
    brief = told_of(first)
    assert "<holdfast-brief" in brief
    assert "echo buoy-1 >> done.txt" in brief
    assert brief.count("</holdfast-brief>") == 1


@pytest.mark.requirement("P5")
def test_the_report_of_a_session_is_kept_and_told_to_the_next(runs: Runs) -> None:
    _, first, second, _ = runs
    assert [one["summary"] for one in second.answer["sessions"]] == [
        "Did draw-the-chart.",
        "Did write-the-log.",
    ]
    told = next(one for one in first.requests if one.kind == "main" and batch_of(one) == 2)
    assert "It reported: Did measure-the-tide." in told_of(told)


@pytest.mark.requirement("P5")
def test_the_second_try_of_a_batch_hears_of_the_first(runs: Runs) -> None:
    again = next(one for one in runs[2].requests if one.kind == "main" and batch_of(one) == 2)
    text = text_of(again)
    assert "A session before you began this same work" in text
    assert "last said: “Too late.”" in told_of(again)
    assert "- done.txt*" in told_of(again)


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
    assert all(one["stop_guard"] == make_mark.ON_BY_VARIABLE for one in states)


@pytest.mark.requirement("X3", "P5")
def test_a_claude_of_a_run_cannot_start_another_run(runs: Runs) -> None:
    last = [one for one in runs[2].requests if batch_of(one) == 3][-1]
    assert "refused with 3" in text_of(last)
    assert "was itself started by `holdfast run`" in text_of(last)

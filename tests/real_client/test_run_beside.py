"""A run with the real client: two sessions at once, and one of them compacts in the middle."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from holdfast.plan import estimate
from tests.trial.cycle import SUMMARY
from tests.trial.script import ReceivedRequest, ScriptedAnswer, Step, bash, usage_of

from .briefs import briefs
from .running import Ran, run_plan, text_of, told_of
from .stage import Stage, a_stage

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]

RULE = "Always write depths in metres."
TIDE, CRANE, LOG = "Chart the tide", "Paint the crane", "Write the log"
PLAN = f"""# Harbour
- [ ] [P] {TIDE}
  {RULE}
  - files: tide.txt
  - size: 50k
- [ ] [P] {CRANE}
  - files: crane.txt
  - size: 50k
- [ ] {LOG}
  - depends: {TIDE}, {CRANE}
  - size: 60k
"""
MOST_WAITS = 100
# Each before the next; the fourth is over the edge, so the rest is after the compaction.
TIDE_USAGE = (60_000, 100_000, 140_000, 169_000, 20_000, 22_000)


def _session(request: ReceivedRequest) -> str:
    """Also of a request whose prompt has been summarised away.

    The device beside it may change in mid-session: two clients that begin at once in a new home
    each make up one, and the last to write it down is believed by both.
    """
    who: dict[str, str] = json.loads(request.body["metadata"]["user_id"])
    return who["session_id"]


class Model:
    """Each session's own script. The two of batch 1 begin their work only once both are there."""

    def __init__(self) -> None:
        self.tasks: dict[str, str] = {}
        self._steps: dict[str, int] = defaultdict(int)
        self.waits = 0

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.kind == "summary":
            return ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))
        if request.kind != "main":
            return ScriptedAnswer("Fine.")
        session = _session(request)
        if session not in self.tasks:
            self.tasks[session] = _task(request)
        task = self.tasks[session]
        if task != LOG and len(self.tasks) < 2 and self.waits < MOST_WAITS:
            self.waits += 1
            return ScriptedAnswer("Waiting.", (bash("sleep 0.1"),), usage_of(20_000))
        self._steps[session] += 1
        return self._step(task, self._steps[session])

    def _step(self, task: str, number: int) -> Step:
        usage = TIDE_USAGE if task == TIDE else (30_000,)
        if number > len(usage):
            return ScriptedAnswer(f"{task}: done.", usage=usage_of(usage[-1] + 1_000))
        word = task.split()[-1]
        command = f"sleep 0.15; echo {word}-{number} >> {word}.txt"
        return ScriptedAnswer(f"{word} {number}.", (bash(command),), usage_of(usage[number - 1]))


def _task(request: ReceivedRequest) -> str:
    return next(task for task in (TIDE, CRANE, LOG) if f": {task}  [" in text_of(request))


@pytest.fixture(scope="session")
def ran(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Ran, Model]:
    stage = a_stage(tmp_path_factory.mktemp("beside"))
    (stage.project / "plan.md").write_text(PLAN)
    model = Model()
    return stage, run_plan(binary, stage, model), model


Run = tuple[Stage, Ran, Model]


def _asked(run: Run, task: str) -> list[list[ReceivedRequest]]:
    """The requests of each session that was given this task, in order."""
    _, done, model = run
    mine = [session for session, given in model.tasks.items() if given == task]
    return [
        [one for one in done.requests if one.kind == "main" and _session(one) == session]
        for session in mine
    ]


def _sessions(run: Run, task: str) -> list[dict[str, Any]]:
    slug = task.lower().replace(" ", "-")
    return [one for one in run[1].answer["sessions"] if one["tasks"] == [slug]]


@pytest.mark.requirement("P5")
def test_tasks_of_a_batch_that_may_are_done_by_two_sessions_at_once(ran: Run) -> None:
    [tide], [crane] = _asked(ran, TIDE), _asked(ran, CRANE)
    assert ran[2].waits < MOST_WAITS, "neither worked before both had begun"
    assert tide[0].number < crane[-1].number and crane[0].number < tide[-1].number
    for first in (tide[0], crane[0]):
        assert "Other sessions work on other tasks of this batch now" in text_of(first)
    assert f": {TIDE}  [" not in text_of(crane[0]), "only as a title that others do"
    assert f": {CRANE}  [" not in text_of(tide[0])
    assert ran[1].code == 0, ran[1].errors
    assert ran[1].answer["left"] == []


@pytest.mark.requirement("P5", "B2")
def test_a_session_that_compacts_in_the_middle_goes_on_with_its_task(ran: Run) -> None:
    [session] = _sessions(ran, TIDE)
    assert (session["compactions"], session["result"]) == (1, "done")
    [tide] = _asked(ran, TIDE)
    given_back = [brief for request in tide for brief in briefs(request)]
    assert given_back
    assert RULE in given_back[0]
    assert TIDE in given_back[0]
    assert (ran[0].project / "tide.txt").read_text().split() == [
        f"tide-{n}" for n in range(1, len(TIDE_USAGE) + 1)
    ]


@pytest.mark.requirement("P1", "P5")
def test_plans_learn_what_its_tasks_took(ran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = ran[0]
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    known = estimate.learn(stage.project, stage.home / ".claude" / "projects")
    most = max(task.used_tokens for task in known.tasks)
    assert most > max(TIDE_USAGE) - TIDE_USAGE[0], "both sides of the compaction"


@pytest.mark.requirement("P5", "B4", "B8")
def test_the_next_batch_hears_what_the_compacted_session_did_before_and_after(ran: Run) -> None:
    told = told_of(_asked(ran, LOG)[0][0])
    assert told.count("<holdfast-brief") == 2
    assert RULE in told
    assert "tide.txt" in told
    assert f"echo tide-{len(TIDE_USAGE)} >>" in told
    assert "echo crane-1 >>" in told

"""`/holdfast:plan FILE` with plans that follow no form: the session's model writes the documented
form, which the command itself quotes, into a new file, and nothing runs before the user agrees."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.plan.load import load_plan
from holdfast.plan.task import BadPlan
from tests.trial.cycle import MODEL, texts
from tests.trial.run import Trial, run_trial
from tests.trial.script import ReceivedRequest, ScriptedAnswer, ScriptedToolCall, Step, bash

from .installed import install, results
from .stage import LOUD, Stage, a_stage

pytestmark = [pytest.mark.real_client, pytest.mark.requirement("U7", "P1")]

LETTER = """Hi team,

the harbour needs a gauge. Please measure the tide at the pier first, and when that works draw a
chart of the last week. Maria wants the log in metres, so convert it once the chart is there.

Tom
"""
TABLE = """# Release 2

| Step | Who | Days |
|---|---|---|
| Freeze the schema | Ana | 2 |
| Port the readers | Bo | 3 |
| Delete the old tables | Ana | 1 |
"""
DESIGN = """# Design of the search

## Problem

Search is slow because every query reads all files.

## Goals

An index that is written when a file is saved.

## How

We write `index.py`. Queries in `query.py` use it. The old scan goes.

## Open questions

None.
"""
NUMBERED = """Migration

1) first we copy the users
   - with their avatars
2) then the orders
3) at the end the old server is switched off
"""
NESTED = """# Shop

- Cart
  - totals are wrong with coupons
  - the badge shows yesterday's number
- Docs
  - nobody knows how coupons work
"""
PLANS = {
    "letter.md": (LETTER, ("Measure the tide", "Draw the chart", "Convert the log to metres")),
    "release.md": (TABLE, ("Freeze the schema", "Port the readers", "Delete the old tables")),
    "design.md": (DESIGN, ("Write the index", "Query the index", "Remove the old scan")),
    "migration.txt": (NUMBERED, ("Copy the users", "Copy the orders", "Stop the old server")),
    "shop.md": (NESTED, ("Fix the totals", "Fix the badge", "Explain coupons")),
}
QUOTED = re.compile(r"`(\S*holdfast plan)(?: [^`]*)?`")
FORM = re.compile(r"^ *```\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


@dataclass
class Planner:
    """Does what the command says; at the end it also tries to run the plan without asking."""

    source: str
    tasks: Sequence[str]
    steps: int = 0
    answers: list[str] = field(default_factory=list)

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.kind != "main":
            return ScriptedAnswer("Fine.")
        said = "\n".join(texts(request.body["messages"]))
        command = QUOTED.findall(said)[0]
        new = self.source.partition(".")[0] + ".tasks.md"
        self.steps += 1
        calls = {
            1: bash(f"{command} {self.source}"),
            2: ScriptedToolCall("Write", {"file_path": new, "content": self._fill_in(said)}),
            3: bash(f"{command} {new}"),
            4: bash(f"{command.removesuffix('plan')}run {new}"),
        }
        if call := calls.get(self.steps):
            return ScriptedAnswer("Next.", (call,))
        return ScriptedAnswer(f"{new} is ready. Is it right?")

    def _fill_in(self, said: str) -> str:
        """The form that the command quotes, with the tasks of this plan."""
        form = next(text for text in FORM.findall(said) if "- [ ] T1" in text)
        lines = [line[3:] for line in form.splitlines()]
        at = next(at for at, line in enumerate(lines) if line.startswith("- [ ] T1"))
        depends = next(line for line in lines if "depends:" in line)
        rows = [f"- [ ] T{number} {task}" for number, task in enumerate(self.tasks, start=1)]
        return "\n".join([*lines[:at], *rows, depends.replace("T1", "T2")]) + "\n"


@dataclass(frozen=True)
class Planned:
    stage: Stage
    source: Path
    text: str
    trial: Trial

    @property
    def results(self) -> list[str]:
        return [text for one in self.trial.asked("main")[-1:] for text in results(one)]


FIRST, *OTHERS = PLANS
ALL = (FIRST, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS))


@pytest.fixture(scope="module", params=ALL)
def planned(
    binary: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Planned:
    text, tasks = PLANS[request.param]
    stage = a_stage(tmp_path_factory.mktemp("free"))
    install(stage)
    path = stage.project / request.param
    path.write_text(text)
    trial = run_trial(
        *(binary, stage.project, stage.home, Planner(request.param, tasks)),
        prompt=f"/holdfast:plan {request.param}",
        model=MODEL,
        env=LOUD,
        tools="Read,Write",
        patient=True,
    )
    return Planned(stage, path, text, trial)


def test_a_plan_in_no_form_becomes_a_valid_one_in_a_new_file(planned: Planned) -> None:
    with pytest.raises(BadPlan):
        load_plan(planned.source, planned.stage.project)
    plan = load_plan(planned.source.with_suffix(".tasks.md"), planned.stage.project)
    assert [task.title for task in plan.tasks] == list(PLANS[planned.source.name][1])
    assert [task.depends for task in plan.tasks] == [(), (), ("T2",)]
    assert planned.source.read_text() == planned.text
    refused, written, shown, _ = planned.results
    assert "/holdfast:plan" in refused and "T1" not in refused
    assert "1 batch" in shown and written


def test_nothing_runs_before_the_user_agrees(planned: Planned) -> None:
    last = planned.results[-1]
    assert "holdfast run" in json.dumps(planned.trial.asked("main")[-1].body)
    assert "denied" in last or "permission" in last.lower()
    assert not (planned.stage.holdfast_home / "runs").exists()

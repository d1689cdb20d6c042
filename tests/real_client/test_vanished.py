"""The real client with our hooks installed and what they name gone: every prompt goes through."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import holdfast
from holdfast.setup import wiring
from tests.trial.cycle import MODEL, hook_faults
from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ScriptedAnswer, bash, usage_of

from .stage import Stage

pytestmark = pytest.mark.real_client

PROMPT = "Please map the harbour."
EVENTS = {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"}


def _package_removed(program: wiring.Program) -> None:
    shutil.rmtree(program.package)


def _interpreter_removed(program: wiring.Program) -> None:
    Path(program.python).unlink()


def _folder_moved(program: wiring.Program) -> None:
    folder = Path(program.package).parents[1]
    folder.rename(folder.with_name("moved"))


def _program(folder: Path) -> wiring.Program:
    """A whole Holdfast of its own, which can be taken away."""
    package = folder / "lib" / "holdfast"
    shutil.copytree(Path(holdfast.__file__).parent, package)
    (folder / "lib" / "msgspec").symlink_to(Path(msgspec.__file__).parent)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return wiring.Program(str(folder / "bin" / "python"), str(package))


def _perform(binary: Path, stage: Stage, program: wiring.Program) -> Trial:
    script = Acts(
        [
            ScriptedAnswer("Looking.", (bash("echo sounding"),), usage_of(20_000)),
            ScriptedAnswer("Mapped.", usage=usage_of(21_000)),
        ]
    )
    settings = {"hooks": wiring.hook_table(8_000, program)}
    return run_trial(
        *(binary, stage.project, stage.home, script),
        prompt=PROMPT,
        model=MODEL,
        settings=settings,
        patient=True,
    )


@pytest.mark.requirement("X1")
@pytest.mark.parametrize(
    "break_it",
    [
        _package_removed,
        pytest.param(_interpreter_removed, marks=pytest.mark.nightly),
        pytest.param(_folder_moved, marks=pytest.mark.nightly),
    ],
)
def test_a_prompt_goes_through_when_what_the_hooks_name_is_gone(
    binary: Path, stage: Stage, tmp_path: Path, break_it: Callable[[wiring.Program], None]
) -> None:
    program = _program(tmp_path / "ours")
    break_it(program)
    trial = _perform(binary, stage, program)
    assert (trial.exit_code, trial.timed_out) == (0, False)
    first, second = trial.asked("main")
    assert PROMPT in json.dumps(first.body)
    assert "sounding" in json.dumps(second.body)
    assert {run.event for run in trial.hooks} >= EVENTS
    assert {(run.outcome, run.exit_code) for run in trial.hooks} == {("success", 0)}
    told = json.dumps([request.body for request in trial.requests])
    assert "hook/__main__.py" not in told, "the model hears nothing of a hook that cannot run"
    assert "locked by" not in trial.debug_log


@pytest.mark.nightly
@pytest.mark.requirement("X1")
def test_the_same_hooks_work_while_their_files_are_there(
    binary: Path, stage: Stage, tmp_path: Path
) -> None:
    """Else the test above would prove nothing: these very lines do run."""
    trial = _perform(binary, stage, _program(tmp_path / "ours"))
    assert hook_faults(trial) == []
    assert "main" in stage.windows(trial.session_id)

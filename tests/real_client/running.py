"""`holdfast run` with the real client: the conductor itself is the confined program, so that every
client it starts is confined with it."""

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.trial.cycle import MODEL, texts
from tests.trial.namespace import children_of, confine, wait_for_end
from tests.trial.run import notes_folder, prepare_home, trial_environment
from tests.trial.script import ReceivedRequest, Script
from tests.trial.scripted_api import ScriptedApi

from .stage import LOUD, Stage, hook_settings

BATCH = re.compile(r"This is batch (\d) of (\d)")


def text_of(request: ReceivedRequest) -> str:
    return json.dumps(request.body.get("messages"), ensure_ascii=False)


def told_of(request: ReceivedRequest) -> str:
    """What the prompt quotes of the sessions before."""
    said = [text for text in texts(request.body.get("messages")) if BATCH.match(text.lstrip())]
    return said[0].partition("From the sessions before:")[2]


def batch_of(request: ReceivedRequest) -> int:
    """Of the prompt itself: a brief or an offered checkpoint may quote an earlier one."""
    found = [BATCH.match(text.lstrip()) for text in texts(request.body.get("messages"))]
    return next((int(one.group(1)) for one in found if one), 0)


@dataclass(frozen=True)
class Ran:
    code: int
    requests: list[ReceivedRequest]
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


def run_plan(
    binary: Path, stage: Stage, script: Script, killer: list[Callable[[], None]] | None = None
) -> Ran:
    """`holdfast run` as the user says it; `killer` receives what ends the conductor with -9."""
    prepare_home(stage.home, stage.project, dict(hook_settings()))
    out, err = (notes_folder(stage.home) / name for name in ("stdout", "stderr"))
    words = ["run", "plan.md", "--json", "--max-parallel", "2", "--model", MODEL]
    words += ["--client-binary", str(binary)]
    command = [sys.executable, "-m", "holdfast.cli", *words, "--", "--allowedTools", "Bash"]
    watched: set[int] = set()
    with ExitStack() as stack:
        stdout, stderr = (stack.enter_context(path.open("wb")) for path in (out, err))
        program = stack.enter_context(
            confine(
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

        if killer is not None:
            killer.append(kill)
        api = stack.enter_context(ScriptedApi(script, listener=program.listener))
        assert program.ended_within(100)
        left = frozenset(pid for pid in watched if not wait_for_end(pid, 20))
    text = out.read_text()
    answer = json.loads(text) if text else {}
    return Ran(program.process.returncode, list(api.received), answer, left, err.read_text())

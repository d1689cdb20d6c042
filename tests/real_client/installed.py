"""Holdfast installed as `holdfast install` does it, and a model that asks its tools."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.setup.install import apply, plan_install
from holdfast.setup.receipts import our_packages
from holdfast.setup.targets import settings_target
from tests.trial.cycle import MODEL
from tests.trial.run import Trial, prepare_home, run_trial
from tests.trial.script import (
    ReceivedRequest,
    ScriptedAnswer,
    ScriptedToolCall,
    Step,
    bash,
    usage_of,
)

from .stage import LOUD, Stage

MOST_WAITS = 200


class Waiting:
    """A script that begins once the client has told the model of our tools: it does not wait for
    servers itself."""

    def __init__(self, then: Callable[[ReceivedRequest], Step]) -> None:
        self._then = then
        self._waits = 0
        self._begun = False

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.kind == "main" and not self._begun and self._waits < MOST_WAITS:
            self._begun = "mcp__holdfast__recall" in json.dumps(request.body)
            if not self._begun:
                self._waits += 1
                return ScriptedAnswer("Waiting.", (bash("sleep 0.1"),), usage_of(20_000))
        return self._then(request)


def install(stage: Stage, *, archive_chars: int | None = None) -> None:
    """As `holdfast install` does; the tools are allowed as the docs tell to."""
    prepare_home(stage.home, stage.project, None)
    ours = our_packages(stage.holdfast_home)
    target = settings_target("user", stage.home, stage.project, ours, archive_chars=archive_chars)
    apply(plan_install(target, stage.home, stage.holdfast_home))
    path = stage.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    # What is not allowed is refused: in a terminal, too, nobody is there to answer a question.
    quiet = {"defaultMode": "dontAsk", "disableAutoMode": "disable"}
    path.write_text(json.dumps(settings | {"permissions": {**quiet, "allow": ["mcp__holdfast"]}}))


def ask_through(binary: Path, stage: Stage, then: Callable[[ReceivedRequest], Step]) -> Trial:
    return run_trial(
        *(binary, stage.project, stage.home, Waiting(then)),
        model=MODEL,
        env=LOUD,
        timeout=110,
        patient=True,
    )


def results(request: ReceivedRequest) -> list[str]:
    """What tools gave back, as the model saw it, in order."""
    blocks = [
        block
        for message in request.body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    return [json.dumps(block) for block in blocks if block.get("type") == "tool_result"]


def call(tool: str, **arguments: Any) -> ScriptedToolCall:
    return ScriptedToolCall(f"mcp__holdfast__{tool}", arguments)

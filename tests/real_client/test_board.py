"""A message posted while the real client works reaches the model's next requests exactly once; and
the watcher saves the real session while it lives."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.hub import row_times
from holdfast.hub.board import messages, outboxes
from holdfast.hub.store.store import Store
from holdfast.hub.tree import projects
from holdfast.watcher.watch import Watch
from holdfast.wire import places
from tests.builders import EDGE
from tests.trial.cycle import hook_faults, rounds, texts
from tests.trial.run import Trial
from tests.trial.script import (
    Acts,
    ReceivedRequest,
    ScriptedAnswer,
    ScriptedToolCall,
    Step,
    bash,
    usage_of,
)

from .stage import Stage, perform

pytestmark = pytest.mark.real_client
WORDS = "the schema of stations has changed"
TASK: dict[str, Any] = {
    "description": "Look around",
    "prompt": "Look around and report.",
    "subagent_type": "general-purpose",
    "run_in_background": False,
}


class During:
    """A script that does something between two answers, as others do while a session runs."""

    def __init__(
        self, acts: Acts, deeds: Mapping[tuple[str, int], Callable[[ReceivedRequest], object]]
    ):
        self._acts, self._deeds = acts, dict(deeds)
        self._count: dict[str, int] = {}

    def __call__(self, request: ReceivedRequest) -> Step:
        number = self._count[request.kind] = self._count.get(request.kind, 0) + 1
        deed = self._deeds.pop((request.kind, number), None)
        if deed is not None:
            deed(request)
        return self._acts(request)


@pytest.fixture
def store(stage: Stage, monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> Store:
    """Ours, seeing the home in which the client runs."""
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    monkeypatch.setenv("HOME", str(stage.home))
    return Store.open(sqlite_url)


def _post(store: Store, stage: Stage, to: str | None) -> None:
    now = row_times.now_ms()
    store.write(lambda c: projects.put(c, str(stage.project), now))
    where = projects.id_of(str(stage.project))
    row = messages.draft("backend", "task.completed", WORDS, now, to_agent=to, project_id=where)
    outboxes.post(store, row)


def _heard(request: ReceivedRequest) -> int:
    return sum(text.count(WORDS) for text in texts(request.body.get("messages", [])))


def _states(store: Store) -> dict[str, int]:
    now = row_times.now_ms()
    outboxes.settle(store, now)
    found = store.read(lambda c: messages.states(c, now))
    return {name: count for name, count in found.items() if count}


@pytest.mark.requirement("A3")
def test_a_message_is_in_the_next_requests_exactly_once(
    binary: Path, stage: Stage, store: Store
) -> None:
    acts = Acts(rounds(range(20_000, 28_000, 1_000)))
    script = During(acts, {("main", 3): lambda _: _post(store, stage, None)})
    trial = perform(binary, stage, script)
    counts = [_heard(request) for request in trial.asked("main")]
    assert counts[:3] == [0, 0, 0]
    assert counts[5:] == [1] * len(counts[5:]), counts
    assert len(counts) > 7
    assert _states(store) == {"confirmed": 1}
    assert hook_faults(trial) == []


@pytest.mark.nightly
@pytest.mark.requirement("A3", "W5")
@pytest.mark.parametrize("by", ["its id", "its kind"])
def test_a_subagent_hears_what_names_it_and_its_parent_does_not(
    binary: Path, stage: Stage, store: Store, by: str
) -> None:
    main = [
        ScriptedAnswer("First.", (bash("echo first"),), usage_of(20_000)),
        ScriptedAnswer("Let an agent look.", (ScriptedToolCall("Agent", TASK),), usage_of(30_000)),
        *rounds((35_000, 36_000)),
    ]
    report = [ScriptedAnswer("All is well.", usage=usage_of(24_000)), ScriptedAnswer("I saw it.")]
    acts = Acts(main, agent=[*rounds((21_000, 22_000, 23_000)), *report])
    kind = TASK["subagent_type"] if by == "its kind" else None
    told = During(acts, {("agent", 3): lambda asked: _post(store, stage, kind or asked.agent_id)})
    trial = perform(binary, stage, told)
    counts = [_heard(request) for request in trial.asked("agent")]
    assert counts == [0, 0, 0, 0, 1]
    assert [_heard(request) for request in trial.asked("main")] == [0] * len(trial.asked("main"))
    assert _states(store) == {"confirmed": 1}
    assert hook_faults(trial) == []


@pytest.mark.nightly
@pytest.mark.requirement("A3", "A5")
def test_the_watcher_saves_a_live_session_and_its_model_hears_of_it_once(
    binary: Path, stage: Stage, store: Store
) -> None:
    watch = Watch(store)
    acts = Acts(rounds([int(EDGE * share / 100) for share in (40, 50, 61, 62, 63, 64, 65, 66)]))
    looks = {("main", n): lambda _: watch.look(row_times.now_ms()) for n in (2, 5, 7)}
    trial = perform(binary, stage, During(acts, looks))
    kept = [verify(str(path)) for path in stage.project.glob(".claude/checkpoints/*.md")]
    assert all(report.ok for report in kept)
    triggers = [report.document.trigger for report in kept if report.document]
    assert triggers.count("watcher") == 1
    assert _told(trial) == 1
    assert hook_faults(trial) == []
    assert os.environ["HOLDFAST_HOME"] == places.home()


def _told(trial: Trial) -> int:
    last = trial.asked("main")[-1]
    return sum(text.count("context_60_percent") for text in texts(last.body.get("messages", [])))

"""A message posted while the real client works reaches the model's next requests exactly once; and
the watcher saves the real session while it lives."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from holdfast.hub import ids, row_times
from holdfast.hub.board import messages, outboxes
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import put_project
from tests.trial.cycle import hook_faults, rounds, texts
from tests.trial.script import (
    Acts,
    ReceivedRequest,
    ScriptedAnswer,
    Step,
    bash,
    start_agent,
    usage_of,
)

from .stage import Stage, perform

pytestmark = pytest.mark.real_client
WORDS = "the schema of stations has changed"


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
    store.write(lambda c: put_project(c, {"path": str(stage.project)}, now))
    where = ids.project_id(str(stage.project))
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
def test_a_subagent_hears_what_names_it_and_its_parent_does_not(
    binary: Path, stage: Stage, store: Store
) -> None:
    main = [
        ScriptedAnswer("First.", (bash("echo first"),), usage_of(20_000)),
        ScriptedAnswer("Let an agent look.", (start_agent(),), usage_of(30_000)),
        *rounds((35_000, 36_000)),
    ]
    report = [ScriptedAnswer("All is well.", usage=usage_of(24_000)), ScriptedAnswer("I saw it.")]
    acts = Acts(main, agent=[*rounds((21_000, 22_000, 23_000)), *report])
    told = During(acts, {("agent", 3): lambda asked: _post(store, stage, asked.agent_id)})
    trial = perform(binary, stage, told)
    counts = [_heard(request) for request in trial.asked("agent")]
    assert counts == [0, 0, 0, 0, 1]
    assert [_heard(request) for request in trial.asked("main")] == [0] * len(trial.asked("main"))
    assert _states(store) == {"confirmed": 1}
    assert hook_faults(trial) == []

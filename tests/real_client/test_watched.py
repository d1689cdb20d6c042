"""One session with our server, asked for a plan and for its health; and, while its subagent works,
saved by the watcher inside that very server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import EDGE
from tests.trial.cycle import hook_faults, texts
from tests.trial.run import Trial
from tests.trial.script import (
    Acts,
    Kind,
    ReceivedRequest,
    ScriptedAnswer,
    Step,
    bash,
    start_agent,
    usage_of,
)

from .briefs import checkpoints
from .installed import ask_through, call, install, results
from .stage import Stage, a_stage

pytestmark = pytest.mark.real_client

PLAN = """# Harbour
- [ ] Measure the tide
  - size: 60k
- [ ] Draw the chart
  - size: 50k
  - depends: Measure the tide
"""
CIRCLE = "- [ ] a\n  depends: b\n- [ ] b\n  depends: a\n"
SETTINGS = "watch_seconds = 1\nwatch_apart_seconds = 1\n"
CALM, FULL, FULLER = 30_000, round(0.61 * EDGE), round(0.63 * EDGE)
MOST_ROUNDS = 150


class Model:
    """Asks, then hands on to an agent that works until the watcher has saved both windows."""

    def __init__(self, project: Path) -> None:
        self._kept = project / ".claude" / "checkpoints"
        self._left = MOST_ROUNDS
        asking = (
            call("plan", path="plan.md"),
            call("plan", text=CIRCLE),
            call("status", task_tokens=EDGE - CALM - 20_000),
            call("status", task_tokens=EDGE - CALM + 1),
        )
        main = [ScriptedAnswer("?", (one,), usage_of(CALM)) for one in asking]
        main.append(ScriptedAnswer("Filling.", (bash("sleep 0.2; echo full"),), usage_of(FULL)))
        main.append(ScriptedAnswer("Let an agent look.", (start_agent(),), usage_of(FULL)))
        after = [
            ScriptedAnswer("On.", (bash("sleep 0.2; echo on"),), usage_of(FULLER)) for _ in range(4)
        ]
        self._acts = Acts([*main, *after])

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.kind != "agent":
            return self._acts(request)
        self._left -= 1
        if self._left and len(list(self._kept.glob("*.md"))) < 2:
            return ScriptedAnswer("Looking.", (bash("sleep 0.2; echo look"),), usage_of(FULLER))
        if "task_tokens" not in json.dumps(request.body["messages"]):
            ask = call("status", task_tokens=EDGE - FULLER + 3_000)
            return ScriptedAnswer("And I?", (ask,), usage_of(FULLER))
        return ScriptedAnswer("All is well.", usage=usage_of(FULLER))


@pytest.fixture(scope="session")
def run(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trial, Stage]:
    stage = a_stage(tmp_path_factory.mktemp("watched"))
    (stage.project / "plan.md").write_text(PLAN)
    install(stage)
    (stage.holdfast_home / "settings.toml").write_text(SETTINGS)
    return ask_through(binary, stage, Model(stage.project)), stage


def _answers(trial: Trial, kind: Kind = "main") -> list[dict[str, Any]]:
    """Of our tools, in the order they were asked; an error is its words."""
    last = trial.asked(kind)[-1]
    asked = [
        block["id"]
        for message in last.body["messages"]
        if message["role"] == "assistant"
        for block in message["content"]
        if block.get("name", "").startswith("mcp__holdfast__")
    ]
    found = {one["tool_use_id"]: one for one in map(json.loads, results(last))}
    return [_said(found[name]) for name in asked]


def _said(result: dict[str, Any]) -> dict[str, Any]:
    content = result["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    # The client adds a reminder of its own behind the answer.
    return {"error": text} if result.get("is_error") else json.JSONDecoder().raw_decode(text)[0]


@pytest.mark.requirement("X1")
def test_nothing_is_held_against_us(run: tuple[Trial, Stage]) -> None:
    trial, _ = run
    assert hook_faults(trial) == []
    assert (trial.exit_code, trial.timed_out) == (0, False), trial.stderr


@pytest.mark.requirement("U6", "P3", "P4")
def test_the_model_gets_batches_that_fit_the_room_it_really_has(run: tuple[Trial, Stage]) -> None:
    plan = _answers(run[0])[0]
    assert plan["room"]["now_tokens"] == pytest.approx(0.6 * 200_000, abs=2_000)
    assert plan["tokens"] == 110_000
    [batch] = plan["batches"]
    assert [one["title"] for one in batch["tasks"]] == ["Measure the tide", "Draw the chart"]
    assert (batch["window"], batch.get("side_by_side")) == ("this", None)


@pytest.mark.requirement("U6", "P3")
def test_a_plan_that_cannot_be_is_refused_in_words(run: tuple[Trial, Stage]) -> None:
    said = _answers(run[0])[1]["error"]
    assert "a" in said and "b" in said and "wait" in said


@pytest.mark.requirement("G10", "U6")
def test_the_model_is_told_whether_a_task_still_fits(run: tuple[Trial, Stage]) -> None:
    small, large = _answers(run[0])[2:4]
    for one in (small, large):
        assert one["zone"] == "green"
        assert one["room_tokens"] == pytest.approx(EDGE - CALM, abs=2_500)
    assert small["task"]["fits"] is True
    assert large["task"]["fits"] is False


@pytest.mark.requirement("G10", "W5")
def test_the_same_is_told_of_each_agent(run: tuple[Trial, Stage]) -> None:
    [told] = _answers(run[0], "agent")
    [agent] = told["agents"]
    assert agent["agent_id"] == run[0].asked("agent")[0].agent_id
    assert agent["room_tokens"] == pytest.approx(EDGE - FULLER, abs=2_500)
    assert (agent["zone"], agent["fits"]) == ("yellow", False)
    assert told["task"]["fits"] is True, "its parent is less full"
    assert told["status"] == "context_high"
    assert told["recommended_action"] == "none", "the watcher has just done it"


@pytest.mark.requirement("A5", "W5", "C4")
def test_the_watcher_in_our_server_saved_the_session_and_its_subagent_while_both_worked(
    run: tuple[Trial, Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial, stage = run
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    kept = checkpoints(stage.project)
    by_watcher = [one.agent_id for one in kept if one.trigger == "watcher"]
    assert sorted(by_watcher) == ["", trial.asked("agent")[0].agent_id]


@pytest.mark.requirement("A3", "A5")
def test_the_session_hears_of_its_own_checkpoint_once_and_of_the_agents_not(
    run: tuple[Trial, Stage],
) -> None:
    said = [_told(request) for request in run[0].asked("main")]
    assert said[-1] == 1
    assert sorted(said) == said, "it stays where it was said"
    assert [_told(request) for request in run[0].asked("agent")] == [0] * len(run[0].asked("agent"))


def _told(request: ReceivedRequest) -> int:
    return sum(text.count("context_60_percent") for text in texts(request.body["messages"]))

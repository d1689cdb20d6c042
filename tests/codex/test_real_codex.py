"""The real Codex with the plugin: a compaction, and the user's words in its next request."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.endurance.facts import CORE
from benchmarks.endurance.measure import WITH_HOLDFAST, Course, measure

from holdfast.text.fence import TAG
from holdfast.wire import tail
from tests.trial.namespace import NamespaceImpossible, unshare_command

from . import real
from .real import SUMMARY_SIGN, CodexAnswer

pytestmark = [pytest.mark.real_client, pytest.mark.requirement("U11", "U12")]
RULE = "Never use tabs in the Makefile of payments."
LIMIT = 200_000


@pytest.fixture(scope="session")
def binary() -> Path:
    found = real.newest_codex()
    if found is None:
        pytest.skip("*** THE REAL CODEX IS NOT HERE: `make client` fetches it ***")
    try:
        unshare_command()
    except NamespaceImpossible as reason:
        pytest.skip(f"*** THE REAL CODEX IS NOT RUN, NO NETWORK NAMESPACE HERE: {reason} ***")
    return found


def rounds(compactions: int, steps: int = 3) -> real.Script:
    """Steps of one command each, and a compaction after every few of them."""
    state = {"done": 0, "step": 0}

    def answer(number: int, body: dict[str, Any]) -> CodexAnswer:
        if SUMMARY_SIGN in json.dumps(body["input"][-1]):
            state["done"] += 1
            state["step"] = 0
            return CodexAnswer(f"Summary {state['done']}: we ran rounds.", 5_000)
        state["step"] += 1
        if state["done"] >= compactions and state["step"] > 1:
            return CodexAnswer("All rounds are done.", 40_000)
        used = 250_000 if state["step"] == steps else 40_000 + 20_000 * state["step"]
        return CodexAnswer(f"Round {number}.", used, (f"echo round {number}",))

    return answer


def after_summaries(run: real.CodexRun) -> list[str]:
    """The first request after each summary."""
    bodies = [json.dumps(body["input"]) for body in run.requests]
    asked = [SUMMARY_SIGN in json.dumps(body["input"][-1]) for body in run.requests]
    return [bodies[n + 1] for n, is_summary in enumerate(asked) if is_summary]


def client(binary: Path, home: Path, *words: str) -> str:
    done = subprocess.run(
        [*unshare_command(), str(binary), *words],
        env=real.environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def an_environment(home: Path) -> None:
    """The commands of an environment that an earlier session built."""
    data = home / ".codex" / "plugins" / "data" / "holdfast-holdfast"
    commands = data / "environment" / "bin"
    commands.mkdir(parents=True)
    (commands / "holdfast").symlink_to(Path(sys.executable).with_name("holdfast"))
    (home / ".holdfast").mkdir(mode=0o700)
    (home / ".holdfast" / "plugin").write_text(f"{data}\n")


def test_the_users_words_are_in_the_request_after_a_compaction(
    binary: Path, plugin: Path, tmp_path: Path
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    real.prepare(home, LIMIT)
    client(binary, home, "plugin", "marketplace", "add", str(plugin))
    client(binary, home, "plugin", "add", "holdfast@holdfast")
    an_environment(home)
    run = real.run(binary, home, project, RULE, rounds(1))
    assert (run.exit_code, run.timed_out) == (0, False), run.said
    after = after_summaries(run)
    assert len(after) == 1
    brief = after[0].partition(f"<{TAG} ")[2]
    assert RULE in brief
    assert "Window 2, just compacted" in brief
    assert "mcp__holdfast" in json.dumps(run.requests[0]["tools"])
    assert "Failed" not in run.said
    assert "ignoring additionalContextLimit" not in run.said
    log = (home / ".holdfast" / "guard.log").read_text()
    assert " ERROR " not in log
    assert list((project / ".claude" / "checkpoints").glob("*.md"))
    [rollout] = (home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    assert tail.read(str(rollout)).answer_tokens == 40_000


@pytest.mark.nightly
@pytest.mark.timeout(1_500)
def test_what_was_said_and_happened_outlasts_ten_compactions(binary: Path) -> None:
    [played] = measure(binary, [1], windows=Course(10, is_codex=True), sides=[WITH_HOLDFAST])
    assert played.faults == ()
    core = [seen.kept for seen in played.seen if seen.fact.kind in CORE]
    assert sum(core) / len(core) >= 0.9
    assert sum(seen.kept for seen in played.seen) / len(played.seen) >= 0.75

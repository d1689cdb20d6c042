"""The plugin in the real client: installed from a folder, and useful before its environment is."""

import json
import subprocess
from pathlib import Path

import pytest

from holdfast.text.fence import TAG
from tests.trial.cycle import hook_faults, run_cycle
from tests.trial.namespace import unshare_command
from tests.trial.run import trial_environment

from .stage import LOUD, Stage

pytestmark = [pytest.mark.real_client, pytest.mark.requirement("U11")]


def client(binary: Path, stage: Stage, *words: str) -> str:
    """What `claude WORDS` prints, without a network."""
    (stage.home / "trial").mkdir(exist_ok=True)
    run = subprocess.run(
        [*unshare_command(), str(binary), *words],
        env=trial_environment(stage.home, {}),
        cwd=stage.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_installed_in_one_line_it_restores_the_users_words_without_an_index(
    binary: Path, stage: Stage, plugin: Path
) -> None:
    assert "passed" in client(binary, stage, "plugin", "validate", "--strict", str(plugin))
    client(binary, stage, "plugin", "install", "holdfast", "--marketplace", str(plugin))
    trial = run_cycle(binary, stage.project, stage.home, env=LOUD, refill=True)
    assert hook_faults(trial) == []
    at = next(n for n, asked in enumerate(trial.requests) if asked.kind == "summary")
    after = next(asked for asked in trial.requests[at:] if asked.kind == "main")
    body = json.dumps(after.body)
    assert f"<{TAG} " in body
    assert "Please work through the rounds." in body
    [data] = (stage.home / ".claude" / "plugins" / "data").iterdir()
    assert not list(data.glob("env-*/ready"))  # there was no index to build it from
    shown = "".join(json.dumps(event) for event in trial.events)
    assert "from your package index" in shown


@pytest.mark.nightly
def test_after_it_was_removed_nothing_of_it_is_left(
    binary: Path, stage: Stage, plugin: Path
) -> None:
    client(binary, stage, "plugin", "install", "holdfast", "--marketplace", str(plugin))
    run_cycle(binary, stage.project, stage.home, env=LOUD)
    client(binary, stage, "plugin", "uninstall", "holdfast@holdfast")
    client(binary, stage, "plugin", "marketplace", "remove", "holdfast")
    left = {path for path in stage.home.rglob("*") if path.is_file()}
    mine = (stage.holdfast_home, stage.home / "trial", stage.home / ".claude" / "projects")
    client_folder = stage.home / ".claude"  # it empties these two itself
    logs = stage.home / ".cache" / "claude-cli-nodejs"  # its own: what a server answered to it
    kept = (client_folder / "plugins" / "cache", client_folder / "backups", logs)
    others = {path for path in left if not any(map(path.is_relative_to, (*mine, *kept)))}
    assert not [path for path in others if b'"holdfast' in path.read_bytes()]
    data = stage.home / ".claude" / "plugins" / "data"
    assert not data.exists() or not list(data.iterdir())

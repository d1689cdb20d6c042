"""An upgrade in place: what release 0.1.0 left on a machine works with the files of this release.

`release_0_1_0.json` holds what 0.1.0 wrote: the lines of Claude Code's settings, its own settings,
and the window of a session that was about to be compacted; the names of its settings and tools.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.client import sample_payloads
from holdfast.setup import wiring
from tests.builders import a_prompt, a_result, a_transcript, an_answer

from .machine import Desk

pytestmark = pytest.mark.requirement("U1")

RELEASE: dict[str, Any] = json.loads(Path(__file__).with_name("release_0_1_0.json").read_text())
SESSION = "s1"
RULE = "build the harbour page, and never use tabs"


@pytest.fixture
def upgraded(desk: Desk) -> Desk:
    """A machine as 0.1.0 left it. This release lies where 0.1.0 lay: same Python, same folder."""
    folders = {"home": desk.home, "project": desk.project, "ours": desk.ours}
    package = str(Path(holdfast.__file__).parent)
    for name, text in RELEASE["files"].items():
        is_command = name.endswith("settings.json")
        words = {"python": sys.executable, "package": package}
        words |= {word: str(folder) for word, folder in folders.items()}
        for word, value in words.items():
            shown = shlex.quote(value) if is_command else value
            text = text.replace("{" + word + "}", shown)
        first, _, rest = name.partition("/")
        path = folders[first] / rest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    transcript(desk).parent.mkdir(parents=True)
    answers = an_answer(50_000, calls=("t1",)), an_answer(60_000, text="The page is built.")
    a_transcript(transcript(desk), a_prompt(RULE), answers[0], a_result(), answers[1])
    return desk


def transcript(desk: Desk) -> Path:
    return desk.home / ".claude" / "projects" / "-p" / f"{SESSION}.jsonl"


def window(desk: Desk) -> Path:
    return desk.ours / "windows" / SESSION / "main"


def settings(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(desk.settings.read_text())
    return found


def commands(desk: Desk, event: str) -> list[str]:
    """Our installed commands for an event; theirs are in the file too."""
    lines = [hook["command"] for one in settings(desk)["hooks"][event] for hook in one["hooks"]]
    return [line for line in lines if wiring.read_command(line)]


def start(desk: Desk, command: str, sent: object) -> str:
    """Run a command line as Claude Code does: by the shell, with the payload on stdin."""
    run = subprocess.run(
        ["sh", "-c", command],
        input=json.dumps(sent).encode(),
        capture_output=True,
        cwd=desk.project,
        env={name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")},
        timeout=120,
        check=True,
    )
    assert run.stderr == b""
    return run.stdout.decode()


def fire(desk: Desk, event: str, **own: str) -> str:
    sent = sample_payloads.make_payload(
        event, session_id=SESSION, transcript=str(transcript(desk)), cwd=str(desk.project)
    )
    return "".join(start(desk, command, sent | own) for command in commands(desk, event))


@pytest.mark.slow
@pytest.mark.parametrize("event", wiring.TIMEOUTS)
def test_every_hook_that_0_1_0_installed_runs(upgraded: Desk, event: str) -> None:
    assert commands(upgraded, event)
    before = (window(upgraded) / "spool").read_text()
    fire(upgraded, event)
    assert (window(upgraded) / "spool").read_text().startswith(before)
    added = (window(upgraded) / "spool").read_text().removeprefix(before).split()
    assert event in added
    log = upgraded.ours / "guard.log"
    assert "ERROR" not in (log.read_text() if log.exists() else "")


@pytest.mark.slow
def test_a_compaction_that_began_before_the_upgrade_is_restored_after_it(upgraded: Desk) -> None:
    said = fire(upgraded, "SessionStart", source="compact")
    assert RULE in said


@pytest.mark.slow
def test_installing_again_replaces_the_lines_and_leaving_restores_theirs(upgraded: Desk) -> None:
    upgraded.install()
    for event in wiring.TIMEOUTS:
        [*lines] = commands(upgraded, event)
        assert all(line.endswith(wiring.OR_NOTHING) for line in lines)
        two = event in (wiring.ARCHIVE_EVENT, wiring.SECOND_EVENT)
        assert len(lines) == (2 if two else 1)
    upgraded.uninstall()
    assert settings(upgraded) == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "statusLine": {"type": "command", "command": "echo tide"},
    }

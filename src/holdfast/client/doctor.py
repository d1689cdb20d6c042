"""Fire every installed hook as the client would, and see what comes back.

The very command lines of the settings file, through a shell, with payloads as the client sends
them; in a HOLDFAST_HOME of its own, so that no real session is touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.client import payloads

SESSION = "holdfast-doctor"
NEARLY_FULL = 165_500  # of an edge of 167,000: every mark is crossed, so the hooks must speak
SPEAKS = frozenset(("PostToolUse", "PostToolUseFailure", "UserPromptSubmit"))


@dataclass(frozen=True, slots=True)
class Fired:
    """One hook, end to end. `reached`: what the model and the user would have got."""

    event: str
    command: str
    ok: bool
    exit_code: int | None
    milliseconds: float
    reached_model: str
    reached_user: str
    trouble: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def fire_all(commands: list[tuple[str, str]]) -> list[Fired]:
    """Each hook on a fresh window that is nearly full."""
    fired = []
    for event, command in commands:
        with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
            fired.append(_fire(event, command, Path(folder)))
    return fired


def _fire(event: str, command: str, folder: Path) -> Fired:
    transcript = folder / "session.jsonl"
    transcript.write_text(json.dumps(payloads.answer_line(NEARLY_FULL)) + "\n")
    sent = payloads.payload(event, session_id=SESSION, transcript=str(transcript), cwd=str(folder))
    environ = {
        **_passed_on(),
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_PROJECT_DIR": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder),
    }
    begun = time.perf_counter()
    try:
        run = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(sent).encode(),
            capture_output=True,
            timeout=30,
            check=False,
            cwd=folder,
            env=environ,
        )
    except (OSError, subprocess.TimeoutExpired) as slip:
        return Fired(event, command, False, None, 0.0, "", "", f"did not run: {slip}")
    milliseconds = (time.perf_counter() - begun) * 1000
    return _judged(event, command, run, milliseconds)


def _passed_on() -> dict[str, str]:
    """What a shell needs to find things; nothing else of the environment goes in."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}


def _judged(
    event: str, command: str, run: subprocess.CompletedProcess[bytes], milliseconds: float
) -> Fired:
    out = run.stdout.decode("utf-8", "replace").strip()
    trouble = run.stderr.decode("utf-8", "replace").strip()[:500]
    if run.returncode != 0:
        trouble = trouble or f"exit code {run.returncode}"
    to_model, to_user, slip = understood(event, out)
    trouble = trouble or slip
    if not trouble and event in SPEAKS and not to_model:
        trouble = "a window 99 % full, and the model was not told"
    ok = run.returncode == 0 and not trouble
    return Fired(
        event, command, ok, run.returncode, round(milliseconds, 1), to_model, to_user, trouble
    )


def understood(event: str, out: str) -> tuple[str, str, str]:
    """(to the model, to the user, trouble), by the client's own rules for what a hook prints."""
    if not out:
        return "", "", ""
    if event in ("PreCompact", "PostCompact", "SessionEnd", "SubagentStop", "SubagentStart"):
        return "", "", f"printed where nothing may be printed: {out[:80]!r}"
    try:
        said = json.loads(out)
    except ValueError:
        return "", "", f"printed something that is not JSON: {out[:80]!r}"
    if not isinstance(said, dict):
        return "", "", "printed JSON that is no object"
    inner = said.get("hookSpecificOutput", {})
    if inner and inner.get("hookEventName") != event:
        return "", "", "named another event: the client throws that away"
    if event == "Stop" and inner:
        return "", "", "context at Stop would start the turn again"
    return str(inner.get("additionalContext", "")), str(said.get("systemMessage", "")), ""

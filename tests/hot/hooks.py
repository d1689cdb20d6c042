"""Running the hook as the client does: a process of its own, the payload on stdin."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import holdfast
from holdfast.client import sample_payloads
from tests.hot import forked

STARTED = os.environ.get("HOLDFAST_TEST_HOOKS") == "started"
ENTRY = Path(holdfast.__file__).parent / "hook" / "__main__.py"
COMMAND = [sys.executable, "-I", "-S", str(ENTRY)]


def run(
    data: bytes,
    *arguments: str,
    loud: bool = True,
    environ: Mapping[str, str] | None = None,
    started: bool = STARTED,
) -> subprocess.CompletedProcess[bytes]:
    """One hook process; `loud` makes our own errors fail the test.

    It is forked unless it is to be `started`, but for hooks at once: one server forks one at a
    time.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")}
    kept |= {"HOLDFAST_EMBEDDER": "off"}  # loading a model takes longer than all else a hook does
    kept |= {"HOLDFAST_RAISE": "1"} if loud else {}
    kept |= environ or {}
    if not started and threading.current_thread() is threading.main_thread():
        return forked.run(data, arguments, kept)
    return subprocess.run(
        [*COMMAND, *arguments], input=data, capture_output=True, timeout=60, check=False, env=kept
    )


def fire(
    event: str,
    transcript: Path | str = "",
    *,
    session: str = "s1",
    environ: dict[str, str] | None = None,
    **own: Any,
) -> dict[str, Any]:
    """Fire one event and read what was said; an empty dict is silence."""
    sent = (
        sample_payloads.make_payload(
            event, session_id=session, transcript=str(transcript), cwd="/p"
        )
        | own
    )
    found = run(json.dumps(sent).encode(), environ=environ)
    assert found.returncode == 0, found.stderr.decode()
    assert found.stderr == b"", found.stderr.decode()
    if event == "PreCompact" and not found.stdout.startswith(b"{"):
        return {"steers": found.stdout.decode()} if found.stdout else {}
    said: dict[str, Any] = json.loads(found.stdout) if found.stdout else {}
    return said


def to_model(said: dict[str, Any]) -> str:
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


def window(session: str = "s1", agent: str = "") -> Path:
    leaf = f"agent-{agent}" if agent else "main"
    return Path(os.environ["HOLDFAST_HOME"], "windows", session, leaf)

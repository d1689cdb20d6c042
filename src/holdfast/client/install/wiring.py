"""What we put into Claude Code: ten hooks and a status line, all through one entry point."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import holdfast

ENTRY = "holdfast/hook/__main__.py"
STATUS_WORD = "statusline"

# Seconds, as the client counts them. SessionEnd is killed after about 1.5 s unless it says more.
TIMEOUTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "SubagentStart": 5,
    "SubagentStop": 5,
    "Stop": 5,
    "PreCompact": 30,
    "PostCompact": 10,
    "SessionEnd": 5,
}
NOBODY_WAITS = frozenset(("PostToolUse", "PostToolUseFailure"))

HookTable = dict[str, list[dict[str, Any]]]


def hook_command() -> str:
    """The one command line of every hook; the payload names the event."""
    return shlex.join(_entry())


def status_command() -> str:
    return shlex.join([*_entry(), STATUS_WORD])


def console_command() -> str:
    """How to call `holdfast` from any folder: by its script, or by its interpreter."""
    script = Path(sys.executable).parent / "holdfast"
    if script.is_file():
        return shlex.quote(str(script))
    return shlex.join([sys.executable, "-m", "holdfast.cli"])


def hook_table() -> HookTable:
    """Event by event, as settings.json and a plugin's hooks.json want it."""
    return {event: [{"hooks": [_hook(event)]}] for event in TIMEOUTS}


def status_line() -> dict[str, Any]:
    return {"type": "command", "command": status_command(), "padding": 0}


def is_ours(command: object) -> bool:
    """True for a command line that is our entry point and nothing else, whatever its python.

    `ruff check src/holdfast/hook/__main__.py` is someone's own hook, and so is a pipe around ours.
    """
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    flags = [word for word in words[1:] if word.startswith("-")]
    script, rest = words[1 + len(flags) :][:1], words[2 + len(flags) :]
    return (
        "-I" in flags
        and bool(script)
        and script[0].endswith("/" + ENTRY)
        and rest in ([], [STATUS_WORD])
    )


def _entry() -> list[str]:
    # Not resolved: a virtual environment's python is a link, and only the link knows its packages.
    return [sys.executable, "-I", "-S", str(Path(holdfast.__file__).parent / "hook/__main__.py")]


def _hook(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": hook_command(), "timeout": TIMEOUTS[event]}
    return {**hook, "async": True} if event in NOBODY_WAITS else hook

"""What we put into Claude Code: hooks and a status line through one entry point, and a server."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

import holdfast
from holdfast.client.tool_outputs import MATCHER

ENTRY = "holdfast/hook/__main__.py"
OUR_FILES = b"holdfast/"  # in every line of ours
SERVER, SERVER_ENTRY = "holdfast", "holdfast/mcp/__main__.py"
STATUS_WORD, WRAPS = "statusline", "--wraps"
ARCHIVE_WORD, ARCHIVE_EVENT, ARCHIVE_TIMEOUT = "archive", "PostToolUse", 10

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


def status_command(theirs: str | None = None) -> str:
    """Ours; it carries the one it runs first, so that neither can be lost without the other."""
    wraps = [] if theirs is None else [WRAPS, theirs]
    return shlex.join([*_entry(), STATUS_WORD, *wraps])


def console_command() -> str:
    """How to call `holdfast` from any folder: by its script, or by its interpreter."""
    script = Path(sys.executable).parent / "holdfast"
    if script.is_file():
        return shlex.quote(str(script))
    return shlex.join([sys.executable, "-m", "holdfast.cli"])


def typed_command() -> str:
    """`holdfast` as it can be typed here: by name where the name finds this very script."""
    script, named = Path(sys.executable).parent / "holdfast", shutil.which("holdfast")
    found = named is not None and script.is_file() and Path(named).samefile(script)
    return "holdfast" if found else console_command()


def hook_table(archive_chars: int = 0) -> HookTable:
    """Event by event, as settings.json and a plugin's hooks.json want it; with `archive_chars`,
    results longer than that are archived."""
    table: HookTable = {event: [{"hooks": [_hook(event)]}] for event in TIMEOUTS}
    if archive_chars:
        table[ARCHIVE_EVENT].append({"matcher": MATCHER, "hooks": [_archiving(archive_chars)]})
    return table


def archive_chars(commands: Iterable[tuple[str, str]]) -> int:
    """The limit that is installed among our commands; 0: none is."""
    return next((limit for _, command in commands if (limit := archives_from(command))), 0)


def archives_from(command: object) -> int:
    """From how many characters on this command of ours archives; 0: it is another one."""
    rest = _arguments(command) or []
    return int(rest[1]) if rest[:1] == [ARCHIVE_WORD] else 0


def status_line(theirs: str | None = None) -> dict[str, Any]:
    return {"type": "command", "command": status_command(theirs), "padding": 0}


def server_entry() -> dict[str, Any]:
    """The MCP server as the client starts it; -I: nothing of the project can be imported."""
    script = str(Path(holdfast.__file__).parent / "mcp/__main__.py")
    return {"type": "stdio", "command": sys.executable, "args": ["-I", script]}


def is_our_server(entry: object) -> bool:
    """True for an entry that starts our server and nothing else, whatever its python."""
    arguments = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(arguments, list) or len(arguments) != 2:
        return False
    return arguments[0] == "-I" and str(arguments[1]).endswith("/" + SERVER_ENTRY)


def is_ours(command: object) -> bool:
    """True for a command line that is our entry point and nothing else, whatever its python.

    `ruff check src/holdfast/hook/__main__.py` is someone's own hook, and so is a pipe around ours.
    """
    return _arguments(command) is not None


def is_written_by_us(command: object) -> bool:
    """True for exactly a line that this Holdfast writes. `is_ours` knows any Holdfast's line by its
    shape, but a line of that shape may start any program: `"$(rm -r ~)/python" -I …/__main__.py`.
    """
    limit = archives_from(command)
    archiving = [_archiving(limit)["command"]] if limit else []
    return command in (hook_command(), status_command(), *archiving)


def wrapped_in(command: object) -> str | None:
    """The status line that ours runs first; None where it runs none, or is not ours."""
    rest = _arguments(command) or []
    return rest[2] if len(rest) == 3 else None


def _arguments(command: object) -> list[str] | None:
    """What our entry point is given; None when the command line is not ours."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return None
    flags = list(takewhile(lambda word: word.startswith("-"), words[1:]))
    script, rest = words[1 + len(flags) :][:1], words[2 + len(flags) :]
    if "-I" not in flags or not script or not script[0].endswith("/" + ENTRY):
        return None
    if rest in ([], [STATUS_WORD]) or (rest[:1] == [ARCHIVE_WORD] and _is_limit(rest[1:])):
        return rest
    # Quoted as we quote it, or the shell would see more than one word: `--wraps a;b`.
    wraps = len(rest) == 3 and rest[:2] == [STATUS_WORD, WRAPS] and shlex.join(words) == command
    return rest if wraps else None


def _is_limit(rest: list[str]) -> bool:
    return len(rest) == 1 and rest[0].isdecimal() and 0 < int(rest[0]) < 1 << 31


def _archiving(chars: int) -> dict[str, Any]:
    """Nothing is shortened by a hook that nobody waits for: this one is synchronous."""
    command = shlex.join([*_entry(), ARCHIVE_WORD, str(chars)])
    return {"type": "command", "command": command, "timeout": ARCHIVE_TIMEOUT}


def _entry() -> list[str]:
    # Not resolved: a virtual environment's python is a link, and only the link knows its packages.
    return [sys.executable, "-I", "-S", str(Path(holdfast.__file__).parent / "hook/__main__.py")]


def _hook(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": hook_command(), "timeout": TIMEOUTS[event]}
    return {**hook, "async": True} if event in NOBODY_WAITS else hook

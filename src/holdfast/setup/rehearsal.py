"""Run every installed hook and MCP server as Claude Code would, and check what they print.

The exact command lines of the settings file run in a shell, with payloads as Claude Code sends
them, and in a HOLDFAST_HOME of their own, so that no real session is touched. Then a compaction is
rehearsed: the commands of PreCompact and SessionStart run on a small made-up session.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.checkpoint.verify import verify
from holdfast.client import sample_payloads
from holdfast.files import plugin_environment
from holdfast.files.folders import INSIDE
from holdfast.setup import wiring
from holdfast.setup.changes import bytes_of
from holdfast.setup.installs import Install
from holdfast.setup.targets import SCOPES, server_part
from holdfast.text.numbers import counted
from holdfast.wire.mark import CHARS_PER_TOKEN
from holdfast.wire.places import user_home

SESSION = "holdfast-doctor"
STATUS_LINE = "statusLine"
NEARLY_FULL = 165_500  # of 167,000: every mark is crossed, so the hooks must report
STEERING_CHARS = 2_000
NOT_TOLD = "a window 99 % full, and the model was not told"
SPEAKS = frozenset(("PostToolUse", "PostToolUseFailure", "UserPromptSubmit"))


@dataclass(frozen=True, slots=True)
class FiredHook:
    """The result of one hook. `reached_…` is what the model and the user would have read."""

    event: str
    command: str
    ok: bool
    exit_code: int | None
    milliseconds: float
    reached_model: str
    reached_user: str
    trouble: str


def fire_all(commands: list[tuple[str, str]]) -> list[FiredHook]:
    """Run each hook on a new window that is nearly full."""
    fired = []
    for event, command in commands:
        with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
            fired.append(_fire(event, command, Path(folder)))
    return fired


def fire_status_line(command: str, event: str = "", hook: str = "") -> FiredHook:
    """Run a status line on the same window; what it prints to stderr is ignored. In a session the
    hook has run before it, and the line shows the alert that it recorded."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        if hook:
            _fire(event, hook, Path(folder))
        sent = _status_payload(_transcript(Path(folder)), folder)
        ran = _run_as_client(command, sent, Path(folder))
    if isinstance(ran, str):
        return FiredHook(STATUS_LINE, command, False, None, 0.0, "", "", ran)
    run, milliseconds = ran
    line, talk = (part.decode("utf-8", "replace").strip() for part in (run.stdout, run.stderr))
    trouble = (talk[:500] or f"exit code {run.returncode}") if run.returncode else ""
    trouble = missing(command) or trouble or talk[:500] or ("" if line else "printed nothing")
    plain = " / ".join(re.sub(r"\x1b\[[0-9;]*m", "", line).splitlines())[:200]
    ended = not trouble, run.returncode, milliseconds
    return FiredHook(STATUS_LINE, command, *ended, "", plain, trouble)


def missing(command: str) -> str:
    """Which file of a Holdfast command line is gone, in words. Such a hook exits with 0 and does
    nothing."""
    found = wiring.read_command(command)
    file = found.program.missing if found is not None else ""
    return f"{file} was not found, so nothing runs" if file else ""


def _fire(event: str, command: str, folder: Path) -> FiredHook:
    sent = sample_payloads.make_payload(
        event, session_id=SESSION, transcript=_transcript(folder), cwd=str(folder)
    )
    limit = wiring.archives_from(command)
    if limit:
        text = "".join(f"line {number} of many\n" for number in range(limit // 10))
        output = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        sent |= {"tool_name": "Bash", "tool_response": output}
    if wiring.prints_second_half(command):
        sent |= {"source": wiring.SECOND_MATCHER}
    ran = _run_as_client(command, sent, folder)
    if isinstance(ran, str):
        return FiredHook(event, command, False, None, 0.0, "", "", ran)
    return _judge(event, command, *ran)


def _transcript(folder: Path) -> str:
    return _write_transcript(folder, [sample_payloads.answer_line(NEARLY_FULL)])


def _write_transcript(folder: Path, lines: list[dict[str, Any]]) -> str:
    """Write a transcript of these lines; returns its path."""
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def _status_payload(transcript: str, folder: str) -> dict[str, Any]:
    """What Claude Code sends to a status line, in the fields that we read."""
    return {
        "hook_event_name": "Status",
        "session_id": SESSION,
        "transcript_path": transcript,
        "cwd": folder,
        "model": {"id": "claude-sonnet-4-6", "display_name": "Sonnet 4.6"},
        "workspace": {"current_dir": folder, "project_dir": folder},
        "context_window": {
            "total_input_tokens": NEARLY_FULL,
            "total_output_tokens": 0,
            "context_window_size": 200_000,
        },
    }


def _run_as_client(
    command: str, sent: dict[str, Any], folder: Path
) -> tuple[subprocess.CompletedProcess[bytes], float] | str:
    """How it ended and after how many milliseconds; or, in words, why it did not run."""
    begun = time.perf_counter()
    try:
        run = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(sent).encode(),
            capture_output=True,
            timeout=30,
            check=False,
            cwd=folder,
            env=_environment_in(folder),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"did not run: {error}"
    return run, round((time.perf_counter() - begun) * 1000, 1)


def _environment_in(folder: Path) -> dict[str, str]:
    """An environment in which everything is read and written inside this folder."""
    needed = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **needed,
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_PROJECT_DIR": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder),
        "CLAUDE_PLUGIN_DATA": str(plugin_environment.place() or folder),
    }


def _judge(
    event: str, command: str, run: subprocess.CompletedProcess[bytes], milliseconds: float
) -> FiredHook:
    out = run.stdout.decode("utf-8", "replace").strip()
    trouble = missing(command) or run.stderr.decode("utf-8", "replace").strip()[:500]
    if run.returncode != 0:
        trouble = trouble or f"exit code {run.returncode}"
    to_model, to_user, error = read_output(event, out)
    trouble = trouble or error
    if not trouble and event in SPEAKS and not to_model:
        archives = bool(wiring.archives_from(command))
        trouble = "a long output was not archived" if archives else NOT_TOLD
    ok = run.returncode == 0 and not trouble
    return FiredHook(event, command, ok, run.returncode, milliseconds, to_model, to_user, trouble)


def read_output(event: str, out: str) -> tuple[str, str, str]:
    """(to the model, to the user, trouble), by Claude Code's rules for what a hook prints."""
    if not out:
        return "", "", ""
    if event == "PreCompact" and not out.startswith("{"):
        return out, "", "" if len(out) <= STEERING_CHARS else "steers with too many words"
    if event in ("PreCompact", "PostCompact", "SessionEnd", "SubagentStop", "SubagentStart"):
        return "", "", f"printed where nothing may be printed: {out[:80]!r}"
    try:
        output = json.loads(out)
    except ValueError:
        return "", "", f"printed something that is not JSON: {out[:80]!r}"
    if not isinstance(output, dict):
        return "", "", "printed JSON that is no object"
    inner = output.get("hookSpecificOutput", {})
    if inner and inner.get("hookEventName") != event:
        return "", "", "named another event: the client throws that away"
    if event == "Stop" and inner:
        return "", "", "context at Stop would start the turn again"
    context = str(inner.get("additionalContext", ""))
    if "updatedToolOutput" in inner:
        context = "a preview of an output that was archived"
    return context, str(output.get("systemMessage", "")), ""


RULE = "Never touch data/raw."
BEFORE, AFTER = "compaction, before", "compaction, after"


@dataclass(frozen=True, slots=True)
class RehearsalStep:
    """One half of a compaction: what happened or what is missing, in words."""

    name: str
    ok: bool
    milliseconds: float
    words: str


def rehearse(commands: list[tuple[str, str]]) -> list[RehearsalStep]:
    """Rehearse both halves. Empty if a needed hook is missing, which is reported elsewhere."""
    by_event = dict(
        command for command in reversed(commands) if not wiring.prints_second_half(command[1])
    )
    before, after = by_event.get("PreCompact"), by_event.get("SessionStart")
    if not before or not after:
        return []
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as name:
        folder = Path(name)
        work = [
            sample_payloads.prompt_line(f"Fix the parser. {RULE}"),
            sample_payloads.answer_line(165_500),
        ]
        steering, milliseconds = _fire_rehearsal("PreCompact", before, folder, work)
        kept = any(verify(str(path)).ok for path in (folder / INSIDE).glob("*.md"))
        missing = [] if kept else ["no checkpoint was saved"]
        missing += [] if RULE in steering else ["the summariser was not told what to keep"]
        size = counted(len(steering), "character")
        done = f"saved a checkpoint and told the summariser what to keep ({size})"
        first = RehearsalStep(BEFORE, not missing, milliseconds, " and ".join(missing) or done)
        work += sample_payloads.compacted_lines()
        brief, milliseconds = _fire_rehearsal("SessionStart", after, folder, work)
        size = counted(round(len(brief) / CHARS_PER_TOKEN), "token")
        words = f"restored a brief of {size}" if RULE in brief else "no brief was restored"
        return [first, RehearsalStep(AFTER, RULE in brief, milliseconds, words)]


def _fire_rehearsal(
    event: str, command: str, folder: Path, lines: list[dict[str, Any]]
) -> tuple[str, float]:
    """What reached the model, and the milliseconds it took; empty for a hook that failed."""
    own = {"source": "compact"} if event == "SessionStart" else {}
    path = _write_transcript(folder, lines)
    where = {"session_id": SESSION, "transcript": path, "cwd": str(folder)}
    ran = _run_as_client(command, sample_payloads.make_payload(event, **where) | own, folder)
    if isinstance(ran, str):
        return "", 0.0
    done, milliseconds = ran
    out = done.stdout.decode("utf-8", "replace").strip()
    return read_output(event, out)[0], milliseconds


TRIAL_SECONDS = 30.0
NOT_BUILT = "a new session builds the plugin's environment, and says when it is complete"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "holdfast-doctor", "version": "1"},
}


def look_at_servers(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> tuple[list[StartedServer], list[str], list[str]]:
    """Start each server of a Holdfast that Claude Code would start here. Returns how they did, with
    problems and notes: hooks without a server are a note. A project's file comes with the
    repository, so from it only what this Holdfast writes is started."""
    plugins = [install.path.parent.parent for install in installs if install.scope == "plugin"]
    parts = [server_part(scope, Path(user_home()), project, packages) for scope in SCOPES]
    files = [(part.path, part.servers) for part in parts]
    files += [(folder / ".mcp.json", ("mcpServers",)) for folder in plugins]
    started, troubles = list[StartedServer](), list[str]()
    for path, keys in dict.fromkeys(files):
        entry = _read(path, (*keys, wiring.SERVER))
        if isinstance(entry, dict) and isinstance(entry.get("args"), list):  # a plugin's variable
            words = (str(word) for word in entry["args"])
            entry = {
                **entry,
                "args": [word.replace(wiring.ROOT, str(path.parent)) for word in words],
            }
        program = wiring.read_server(entry)
        if program is None:
            continue
        known = program.package in packages or path.parent in plugins
        fix = NOT_BUILT if path.parent in plugins else "run `holdfast install`"
        if known if path != project / ".mcp.json" else entry == wiring.server_entry():
            started.append(start(path, entry))
            if trouble := started[-1].trouble:
                troubles.append(f"the MCP server of {path}: {trouble}; {fix}")
        else:
            why = "was not started: this Holdfast did not write that entry; remove it and"
            troubles.append(f"the MCP server of {path} {why} {fix}")
    missing = not (started or troubles) and any(install.commands for install in installs)
    note = "the model has no tools of Holdfast: `holdfast install` adds the MCP server"
    return started, troubles, [note] if missing else []


def _read(path: Path, keys: tuple[str, ...]) -> Any:
    try:
        found = json.loads(bytes_of(path) or b"")
    except (OSError, ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


@dataclass(frozen=True, slots=True)
class StartedServer:
    """One server that was started; `trouble` says what it failed to do."""

    path: str
    ok: bool
    milliseconds: float
    tools: tuple[str, ...]
    trouble: str


def start(path: Path, entry: dict[str, Any]) -> StartedServer:
    """Start a server in a HOLDFAST_HOME of its own, so that no real session is touched."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        tools, trouble = _try_server([entry["command"], *entry["args"]], Path(folder))
    milliseconds = round((time.perf_counter() - begun) * 1000, 1)
    return StartedServer(str(path), not trouble, milliseconds, tools, trouble)


def _try_server(command: list[str], folder: Path) -> tuple[tuple[str, ...], str]:
    """Ask for its tools and close its input, upon which it must end. Returns the tools, and what
    it failed to do."""
    requests: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    )
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    try:
        run = subprocess.run(
            command,
            input=lines.encode(),
            capture_output=True,
            cwd=folder,
            env=_environment_in(folder),
            timeout=TRIAL_SECONDS,
            check=False,
        )
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        listed = next(answer["result"] for answer in answers if answer.get("id") == 2)
        tools = tuple(str(tool["name"]) for tool in listed["tools"])
    except subprocess.TimeoutExpired:
        return (), "did not end with its input"
    except OSError as error:
        return (), f"does not start: {error}"
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        errors = run.stderr.decode("utf-8", "replace").strip()
        return (), (errors.splitlines()[-1][:300] if errors else "did not answer as a server does")
    return tools, "" if tools else "has no tools"

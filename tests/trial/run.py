"""Run the real Claude Code once, headless and offline, in its own home; collect the outcome."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.trial.namespace import Patience, confine
from tests.trial.script import Kind, ReceivedRequest, Script
from tests.trial.scripted_api import ScriptedApi

_TOOLS = "Bash,Read,Write,Edit,Agent"
_KEY = "sk-ant-scripted-api-on-loopback-only"  # opens nothing: the scripted API never looks at it

# Claude Code then asks only the API on loopback; the namespace would refuse the rest anyway.
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",
}


@dataclass(frozen=True)
class HookRun:
    """How one hook ended, as Claude Code reports it. PreCompact and PostCompact are only in its
    debug log."""

    event: str
    name: str
    outcome: str
    exit_code: int | None
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Trial:
    """The outcome: what Claude Code printed, what its hooks did, what the API was asked."""

    exit_code: int
    timed_out: bool
    seconds: float
    events: tuple[dict[str, Any], ...]
    hooks: tuple[HookRun, ...]
    requests: tuple[ReceivedRequest, ...]
    transcripts: tuple[Path, ...]
    debug_log: str
    stderr: str
    skipped: tuple[str, ...] = ()  # lines of our own log on hooks that failed and exited with 0

    def asked(self, kind: Kind) -> list[ReceivedRequest]:
        """The requests of one kind, in order."""
        return [request for request in self.requests if request.kind == kind]

    @property
    def session_id(self) -> str:
        return next((e["session_id"] for e in self.events if e.get("session_id")), "")


def run_trial(
    binary: Path,
    project_dir: Path,
    home: Path,
    script: Script,
    *,
    prompt: str = "Please begin.",
    model: str = "claude-sonnet-4-6",
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 90.0,
    args: Sequence[str] = (),
    tools: str = _TOOLS,
    patient: bool = False,
) -> Trial:
    """Run the client once, headless, in a namespace with only loopback; raises NamespaceImpossible.

    `tools` are allowed. A `patient` API answers only once the hooks of the last round have ended,
    as real ones do.
    """
    prepare_home(home, project_dir, settings)
    out, err, debug = (notes_folder(home) / name for name in ("stdout", "stderr", "debug"))
    command = [str(binary.resolve()), "-p", prompt, *_flags(model, debug, tools), *args]
    environment = trial_environment(home, env or {})
    started = time.monotonic()
    with (
        out.open("wb") as stdout,
        err.open("wb") as stderr,
        confine(
            command, folder=project_dir, environment=environment, stdout=stdout, stderr=stderr
        ) as client,
        ScriptedApi(
            script,
            listener=client.listener,
            before_answer=Patience(client.process.pid) if patient else None,
        ) as api,
    ):
        ended = client.ended_within(timeout)
    events = tuple(_lines(out))
    return Trial(
        exit_code=client.process.returncode,
        timed_out=not ended,
        seconds=time.monotonic() - started,
        events=events,
        hooks=tuple(_hook_runs(events)),
        requests=tuple(api.received),
        transcripts=transcripts_in(home),
        debug_log=debug.read_text(errors="replace") if debug.exists() else "",
        stderr=err.read_text(errors="replace"),
        skipped=tuple(skipped_hooks(Path(environment["HOLDFAST_HOME"]))),
    )


def skipped_hooks(holdfast_home: Path) -> Iterator[str]:
    """Failed hooks, from our own log: Claude Code sees exit code 0, whatever happens."""
    log = holdfast_home / "guard.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return (line for line in lines if " ERROR hook " in line)


def _flags(model: str, debug: Path, tools: str) -> list[str]:
    return [
        *("--output-format", "stream-json", "--verbose", "--include-hook-events"),
        *("--model", model, "--debug-file", str(debug), "--allowedTools", tools),
    ]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # torn by a timeout
        if isinstance(event, dict):
            yield event


def _hook_runs(events: Sequence[dict[str, Any]]) -> Iterator[HookRun]:
    for event in events:
        if event.get("subtype") == "hook_response":
            yield HookRun(
                event=str(event.get("hook_event", "")),
                name=str(event.get("hook_name", "")),
                outcome=str(event.get("outcome", "")),
                exit_code=event.get("exit_code"),
                stdout=str(event.get("stdout", "")),
                stderr=str(event.get("stderr", "")),
            )


def prepare_home(home: Path, project: Path, settings: Mapping[str, Any] | None) -> None:
    """Answer the first-run questions; with `settings` None the settings file stays as it is."""
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    notes_folder(home).mkdir(exist_ok=True)
    state = home / ".claude.json"
    if not state.exists():
        state.write_text(json.dumps(_first_run_answers(project)), encoding="utf-8")
    if settings is not None:
        text = json.dumps(settings, indent=2)
        (home / ".claude" / "settings.json").write_text(text, encoding="utf-8")


def trial_environment(home: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """A clean environment; TMPDIR keeps the client's own scratch files inside the trial."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(notes_folder(home)),
        "HOLDFAST_HOME": str(home / ".holdfast"),
        "ANTHROPIC_API_KEY": _KEY,
        **_QUIET,
        **extra,
    }


def notes_folder(home: Path) -> Path:
    """The folder for what Claude Code printed, and for its own scratch files."""
    return home / "trial"


def transcripts_in(home: Path) -> tuple[Path, ...]:
    """The sessions' own transcripts, without those of subagents."""
    return tuple(sorted((home / ".claude" / "projects").glob("*/*.jsonl")))


def _first_run_answers(project: Path) -> dict[str, Any]:
    return {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": {str(project.resolve()): {"hasTrustDialogAccepted": True}},
    }

"""A home in which the client asks no first-run question, and an environment with little in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_KEY = "sk-ant-scripted-api-on-loopback-only"  # opens nothing: the scripted API never looks at it

# Nothing but the API on loopback is ever asked for; the namespace would refuse it anyway.
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",
}


def prepare_home(home: Path, project: Path, settings: Mapping[str, Any] | None) -> None:
    """Answer the first-run questions; `settings` None leaves the settings file as it is found."""
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
    """Where a trial keeps what the client printed, and the client its own scratch files."""
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

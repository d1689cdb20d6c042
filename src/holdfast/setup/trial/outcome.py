"""What reached the model of what we said, and what the client had to say against our hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from holdfast.setup.trial.run import Trial
from holdfast.setup.trial.script import Received

# A text of ours ends where the client's wrapper, or a section of its system message, ends.
_OURS = re.compile(r"Holdfast:.*?(?=\s*</system-reminder>|\n\n|\Z)", re.DOTALL)
# PreCompact and PostCompact are not in the stream: only the debug log has their status.
_STATUS = re.compile(
    r"\[DEBUG\] (?:Hooks: )?(\w+\S* \[.*\] (?:completed|finished) with status [1-9].*)"
)
_ERROR = re.compile(r"\[ERROR\] (.*\b[Hh]ook\b.*)")
_REJECTED = re.compile(r"\] (.*[Hh]ook JSON output validation failed.*)")


def heard(request: Received) -> list[str]:
    """Every text of ours in one request, in order, as often as it is there."""
    found: list[str] = []
    for text in texts(request.body.get("messages", [])):
        found += [match.group().strip() for match in _OURS.finditer(text)]
    return found


def compactions(trial: Trial) -> int:
    """How often the client compacted."""
    return sum(event.get("subtype") == "compact_boundary" for event in trial.events)


def hook_faults(trial: Trial) -> list[str]:
    """All the client held against a hook, from its event stream and its debug log, and what our
    own log says of hooks that failed and ended well all the same."""
    faults = [
        f"{run.name}: {run.outcome}, exit {run.exit_code}, {run.stderr.strip()}"
        for run in trial.hooks
        if run.outcome != "success" or run.exit_code not in (0, None) or run.stderr.strip()
    ]
    faults += trial.skipped
    for pattern in (_STATUS, _ERROR, _REJECTED):
        faults += pattern.findall(trial.debug_log)
    return faults


def texts(value: Any) -> Iterator[str]:
    """All strings of a JSON value: our text may sit in a tool result, a block or a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)

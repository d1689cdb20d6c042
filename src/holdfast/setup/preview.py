"""How a planned change is shown to the user: in one line, or as a unified diff."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Any

from holdfast.setup import settings_text
from holdfast.setup.changes import InstallChange
from holdfast.setup.receipts import packages_in
from holdfast.setup.targets import Target
from holdfast.setup.wiring import is_ours

LONGEST_LINE = 400  # beyond this a text is one line for a machine; it is shown indented
SERVER_FILES = (".claude.json", ".mcp.json")
VERBS = {"adds": "to", "removes": "from", "renews": "in"}


def unified(change: InstallChange) -> str:
    """The change as a diff. JSON in one long line is indented first, so that it can be read."""
    before, after = _decode(change.before), _decode(change.after)
    name = str(change.path)
    old = name if change.before is not None else "/dev/null"
    new = name if change.after is not None else "/dev/null"
    if max(map(len, (before + "\n" + after).splitlines()), default=0) > LONGEST_LINE:
        before, after = _indented(before), _indented(after)
        new += " (indented here to be read)"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)


def counted(change: InstallChange) -> tuple[int, int]:
    """How many lines it adds, and how many it removes."""
    lines = unified(change).splitlines()[2:]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def in_one_line(target: Target, shown: Sequence[InstallChange]) -> str:
    """For example: adds 10 hooks and the status line to FILE, /holdfast:status."""
    if target.scope == "plugin":
        verb = _verb(*(any(_both_bytes(change)[at] for change in shown) for at in (0, 1)))
        return f"{verb} {len(shown)} files of the plugin in {target.anchor}"
    parts = [_one(change, target) for change in shown]
    return ", ".join([*parts[:1], *(_rest(part, parts[0]) for part in parts[1:])])


def events(target: Target, shown: Sequence[InstallChange]) -> list[str]:
    """The events of our hooks, in the settings as they will be, or else as they were."""
    for before, after in (_both_bytes(change) for change in shown if change.path == target.anchor):
        return _events(after, target) or _events(before, target)
    return []


def _one(change: InstallChange, target: Target) -> str:
    before, after = _both_bytes(change)
    settings = target.anchor
    if change.path.name in SERVER_FILES:
        verb = _verb(*(bool(packages_in(data) & target.packages) for data in (before, after)))
        return f"{verb} the MCP server {VERBS[verb]} {change.path}"
    if change.path != settings:
        return f"{_verb(bool(before), bool(after))} /holdfast:{change.path.stem}"
    was, will = _share(before, target), _share(after, target)
    verb = _verb(bool(was), bool(will))
    return f"{verb} {' and '.join(will or was)} {VERBS[verb]} {settings}"


def _rest(part: str, first: str) -> str:
    """The part without the verb of the first one."""
    verb = first.partition(" ")[0]
    return part.removeprefix(verb + " ")


def _share(data: bytes, target: Target) -> list[str]:
    """What a settings text holds of ours, in words."""
    settings = _settings(data)
    count = len(settings_text.commands(settings, target.packages))
    line = is_ours(settings_text.status_command_in(settings), target.packages)
    return [*([f"{count} hooks"] if count else []), *(["the status line"] if line else [])]


def _events(data: bytes, target: Target) -> list[str]:
    commands = settings_text.commands(_settings(data), target.packages)
    return list(dict.fromkeys(event for event, _ in commands))


def _settings(data: bytes) -> dict[str, Any]:
    return settings_text.check(settings_text.or_empty(data.decode()))


def _verb(before: bool, after: bool) -> str:
    return "renews" if before and after else "adds" if after else "removes"


def _both_bytes(change: InstallChange) -> tuple[bytes, bytes]:
    return change.before or b"", change.after or b""

"""A plan in one line, for those who do not read diffs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.setup import settings_text
from holdfast.setup.changes import Change
from holdfast.setup.ownership import packages_in
from holdfast.setup.scopes import Target
from holdfast.setup.wiring import is_ours

SERVER_FILES = (".claude.json", ".mcp.json")
VERBS = {"adds": "to", "removes": "from", "renews": "in"}


def in_one_line(target: Target, shown: Sequence[Change]) -> str:
    """Such as: adds 10 hooks and the status line to FILE, /holdfast:status, /holdfast:resume."""
    if target.scope == "plugin":
        verb = _verb(*(any(_bytes(change)[at] for change in shown) for at in (0, 1)))
        return f"{verb} {len(shown)} files of the plugin in {target.anchor}"
    parts = [_one(change, target) for change in shown]
    return ", ".join([*parts[:1], *(_rest(part, parts[0]) for part in parts[1:])])


def events(target: Target, shown: Sequence[Change]) -> list[str]:
    """What our hooks run at: in the settings as they will be, or as they were."""
    for before, after in (_bytes(change) for change in shown if change.path == target.anchor):
        return _events(after, target) or _events(before, target)
    return []


def _one(change: Change, target: Target) -> str:
    before, after = _bytes(change)
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
    """The verb is said once."""
    verb = first.partition(" ")[0]
    return part.removeprefix(verb + " ")


def _share(data: bytes, target: Target) -> list[str]:
    """What of ours stands in a settings text, in words."""
    settings = _settings(data)
    count = len(settings_text.commands(settings, target.packages))
    line = is_ours(settings_text.their_status_command(settings), target.packages)
    return [*([f"{count} hooks"] if count else []), *(["the status line"] if line else [])]


def _events(data: bytes, target: Target) -> list[str]:
    commands = settings_text.commands(_settings(data), target.packages)
    return list(dict.fromkeys(event for event, _ in commands))


def _settings(data: bytes) -> dict[str, Any]:
    return settings_text.check(settings_text.or_empty(data.decode()))


def _verb(before: bool, after: bool) -> str:
    return "renews" if before and after else "adds" if after else "removes"


def _bytes(change: Change) -> tuple[bytes, bytes]:
    return change.before or b"", change.after or b""

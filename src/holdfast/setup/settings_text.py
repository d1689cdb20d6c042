"""Our part of a settings.json: add it, remove it, and leave every other byte as it is.

`packages` are the Holdfasts whose lines are ours; lines of another Holdfast are foreign.

`before` is the text as it was without us. It tells which objects and lists are ours. If it is
unknown (None), one that is empty after our part is removed counts as ours.
"""

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from holdfast.setup import json_text
from holdfast.setup.changes import bytes_of
from holdfast.setup.errors import SettingsBroken
from holdfast.setup.json_text import JsonPath
from holdfast.setup.wiring import HookTable, is_ours, read_command, wrapped_in

STATUS: JsonPath = ("statusLine",)
STATUS_COMMAND: JsonPath = ("statusLine", "command")


def or_empty(text: str) -> str:
    """An empty file counts as an empty object."""
    return text if text.strip("\ufeff \t\r\n") else text.rstrip() + "{}\n"


def check(text: str) -> dict[str, Any]:
    """Parse the settings. SettingsBroken if they are not a JSON object, or name hooks twice."""
    settings = json_text.read(text)
    if not isinstance(settings, dict):
        raise SettingsBroken("the top level is not an object")
    _refuse_twins(text, (), only="hooks")
    if isinstance(settings.get("hooks"), dict):
        _refuse_twins(text, ("hooks",))
    return settings


def check_room(settings: dict[str, Any]) -> None:
    """Refuse a `hooks` that Claude Code could not read."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise SettingsBroken("`hooks` is not an object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise SettingsBroken(f"`hooks.{event}` is not a list")


def commands(
    settings: dict[str, Any], packages: Collection[str] | None = None
) -> list[tuple[str, str]]:
    """The hooks of these packages, or of any Holdfast: event and command line."""
    return [(event, hook["command"]) for event, _, _, hook in _our_hooks(settings, packages)]


def status_command_in(settings: dict[str, Any]) -> str | None:
    """The command of the status line, if there is one."""
    line = settings.get("statusLine")
    if not isinstance(line, dict) or line.get("type") != "command":
        return None
    command = line.get("command")
    return command if isinstance(command, str) else None


def has_all(
    text: str, table: HookTable, status_line: dict[str, Any] | None, packages: Collection[str]
) -> bool:
    """True if our part is complete: each hook once, and as we would write it today."""
    settings = check(text)
    wanted = [(event, hook) for event in table for group in table[event] for hook in group["hooks"]]
    there = [(event, hook) for event, _, _, hook in _our_hooks(settings, packages)]
    same = len(there) == len(wanted) and all(entry in there for entry in wanted)
    return same and status_command_in(settings) == (status_line or {}).get("command")


def join(text: str, table: HookTable, status_line: dict[str, Any] | None) -> str:
    """The text with our part added; `text` must hold nothing of ours."""
    if table and json_text.find(text, ("hooks",)) is None:
        text = json_text.add(text, (), table, key="hooks")
    else:
        for event, groups in table.items():
            text = _join_event(text, event, groups)
    if status_line is None:
        return text
    if status_command_in(json_text.read(text)) is not None:
        return json_text.replace(text, STATUS_COMMAND, _to_json(status_line["command"]))
    if json_text.find(text, STATUS) is not None:
        return json_text.replace(text, STATUS, _to_json(status_line))
    return json_text.add(text, (), status_line, key="statusLine")


def leave(
    text: str, before: str | None, packages: Collection[str], below: str | None = None
) -> str:
    """The text without our part; `below` is the status line of the settings it overrides."""
    for event, group, index, _ in reversed(_our_hooks(check(text), packages)):
        text = _remove_hook(text, ("hooks", event, group, "hooks", index), before)
    if not is_ours(status_command_in(json_text.read(text)), packages):
        return text
    return _leave_status_line(text, before, below)


def _join_event(text: str, event: str, groups: list[dict[str, Any]]) -> str:
    if json_text.find(text, ("hooks", event)) is None:
        return json_text.add(text, ("hooks",), groups, key=event)
    for group in groups:
        text = json_text.add(text, ("hooks", event), group)
    return text


def _remove_hook(text: str, path: JsonPath, before: str | None) -> str:
    text = json_text.remove(text, path)
    if not json_text.is_empty(text, path[:4]):
        return text
    text = json_text.remove(text, path[:3])
    for container in (path[:2], path[:1], ()):
        if not json_text.is_empty(text, container):
            break
        text = close(text, container, before)
        if json_text.find(text, container) is not None:
            break
    return text


def close(text: str, container: JsonPath, before: str | None) -> str:
    """Remove an object or list that is empty now if it was ours; else restore its white space."""
    theirs = before is not None and json_text.find(before, container) is not None
    if container and not theirs:
        return json_text.remove(text, container)
    blank = json_text.blank_inside(before, container) if before is not None else ""
    place = json_text.find(text, container)
    assert place is not None
    return text[: place.value_start + 1] + blank + text[place.end - 1 :]


def _leave_status_line(text: str, before: str | None, below: str | None) -> str:
    ours = status_command_in(json_text.read(text))
    written = _theirs_as_written(wrapped_in(ours), before, below)
    if written is not None:
        return json_text.replace(text, STATUS_COMMAND, written)
    line = json_text.raw(before, STATUS) if before is not None else None
    if line is not None:
        return json_text.replace(text, STATUS, line)
    text = json_text.remove(text, STATUS)
    return close(text, (), before) if json_text.is_empty(text, ()) else text


def _theirs_as_written(theirs: str | None, before: str | None, below: str | None) -> str | None:
    """The user's command that was in this file; None if it was in another file, or nowhere."""
    if before is None:
        return None if theirs in (None, below) else _to_json(theirs)
    was = status_command_in(json_text.read(before))
    if was is None:
        return None
    return json_text.raw(before, STATUS_COMMAND) if theirs in (None, was) else _to_json(theirs)


def _our_hooks(
    settings: dict[str, Any], packages: Collection[str] | None
) -> list[tuple[str, int, int, dict[str, Any]]]:
    hooks = settings.get("hooks")
    return [
        (event, group_at, at, hook)
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        for group_at, group in enumerate(groups if isinstance(groups, list) else ())
        for at, hook in enumerate(_list_in(group))
        if isinstance(hook, dict) and _is_of(hook.get("command"), packages)
    ]


def _is_of(command: object, packages: Collection[str] | None) -> bool:
    return read_command(command) is not None if packages is None else is_ours(command, packages)


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _list_in(group: object) -> list[Any]:
    inside = group.get("hooks") if isinstance(group, dict) else None
    return inside if isinstance(inside, list) else []


def _refuse_twins(text: str, path: JsonPath, only: str = "") -> None:
    place = json_text.find(text, path) or json_text.root(text)
    counts = Counter(str(child.key) for child in json_text.children(text, place))
    for key, count in counts.items():
        if count > 1 and (not only or key == only):
            name = ".".join([*map(str, path), key])
            raise SettingsBroken(f"`{name}` is given twice, and only the last one counts")


def settings_in(path: Path) -> dict[str, Any]:
    """The settings in a file; empty if Claude Code could not read them either."""
    try:
        data = bytes_of(path)
        return check(or_empty((data or b"").decode()))
    except (OSError, UnicodeDecodeError, SettingsBroken):
        return {}


def installed_commands(
    path: Path, packages: Collection[str] | None = None
) -> list[tuple[str, str]]:
    """The command lines of these packages, or of any Holdfast, in a settings file or a plugin's
    hooks.json."""
    return commands(settings_in(path), packages)

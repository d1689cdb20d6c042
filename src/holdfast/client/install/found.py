"""Where Holdfast is wired in already: settings of three scopes, and plugins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.client.install import settings_text
from holdfast.client.install.changes import bytes_of
from holdfast.client.install.errors import SettingsBroken
from holdfast.client.install.scopes import SCOPES, claude_folder, settings_file

PLUGIN = "holdfast"


@dataclass(frozen=True, slots=True)
class Install:
    """`path` holds the hooks; where a plugin's are not found, it is the file that names it."""

    scope: str
    path: Path
    commands: tuple[tuple[str, str], ...]


def find_installs(home: Path, project: Path) -> list[Install]:
    """All places that run our hooks in this project; files that cannot be read count as empty."""
    files: dict[Path, str] = {}
    for scope in SCOPES:  # a project that is the home folder has one file for two scopes
        files.setdefault(settings_file(scope, home, project), scope)
    found = [Install(scope, path, tuple(installed_commands(path))) for path, scope in files.items()]
    with_hooks = [install for install in found if install.commands]
    return [*with_hooks, *_plugins(claude_folder(home), project, list(files))]


def installed_commands(settings_path: Path) -> list[tuple[str, str]]:
    """The very command lines of ours that stand in a settings file or a plugin's hooks.json."""
    return settings_text.commands(settings_in(settings_path))


def settings_in(path: Path) -> dict[str, Any]:
    """Settings as Claude Code would see them; none where it could not read them either."""
    try:
        data = bytes_of(path)
        return settings_text.check(settings_text.or_empty((data or b"").decode()))
    except (OSError, UnicodeDecodeError, SettingsBroken):
        return {}


def _plugins(claude: Path, project: Path, settings_files: list[Path]) -> Iterator[Install]:
    """Enabled in the last settings that speak of it, or installed here and disabled in none."""
    register = claude / "plugins" / "installed_plugins.json"
    installed = _installed_plugins(register, project)
    switched: dict[str, tuple[bool, Path]] = {}
    for path in settings_files:
        enabled = settings_in(path).get("enabledPlugins")
        for name, on in (enabled if isinstance(enabled, dict) else {}).items():
            if name.partition("@")[0] == PLUGIN:
                switched[name] = (bool(on), path)
    for name in {**installed, **switched}:
        on, said_by = switched.get(name, (True, register))
        if on:
            hooks = installed.get(name)
            yield Install("plugin", hooks or said_by, tuple(installed_commands(hooks or said_by)))


def _installed_plugins(register: Path, project: Path) -> dict[str, Path | None]:
    """Names of Holdfast plugins, each with its hooks.json if that is there."""
    try:
        plugins = json.loads(register.read_bytes())["plugins"]
        names = [name for name in plugins if name.partition("@")[0] == PLUGIN]
        here = {name: _copies_for(plugins[name], project) for name in names}
        return {name: _hooks_file(copies) for name, copies in here.items() if copies}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _copies_for(entry: object, project: Path) -> list[dict[str, Any]]:
    """A copy installed for another project is not run in this one."""
    copies = entry if isinstance(entry, list) else [entry]
    known = [copy for copy in copies if isinstance(copy, dict)]
    return [copy for copy in known if copy.get("projectPath", str(project)) == str(project)]


def _hooks_file(copies: list[dict[str, Any]]) -> Path | None:
    for copy in copies:
        folder = copy.get("installPath")
        if isinstance(folder, str) and (Path(folder) / "hooks" / "hooks.json").is_file():
            return Path(folder) / "hooks" / "hooks.json"
    return None

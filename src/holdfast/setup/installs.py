"""Where Holdfast is already installed, and what keeps installed hooks from running.

In Claude Code's settings the stronger file wins, and an `env` block wins over the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.client import settings_files
from holdfast.client.settings_files import claude_folder
from holdfast.setup.settings_text import installed_commands, settings_in
from holdfast.setup.targets import SCOPES, settings_file
from holdfast.setup.wiring import Program, is_written_by_us, read_command

PLUGIN = "holdfast"
HOOKS = Path("hooks", "hooks.json")
OFF_WORDS = ("HOLDFAST_DISABLE", "DISABLE_AUTO_CONTEXT_MANAGER")


@dataclass(frozen=True, slots=True)
class Install:
    """`path` holds the hooks. For a plugin without hooks it is the file that names the plugin, and
    there are no commands."""

    scope: str
    path: Path
    commands: tuple[tuple[str, str], ...]

    @property
    def runnable(self) -> tuple[tuple[str, str], ...]:
        """The commands that the doctor may run. A project's settings come with the repository: of
        those, only lines that this Holdfast writes."""
        if self.scope in ("user", "plugin"):
            return self.commands
        return tuple(one for one in self.commands if is_written_by_us(one[1]))


@dataclass(frozen=True, slots=True)
class OtherHoldfast:
    """Hooks that another Holdfast wrote into a settings file. We neither update nor remove them."""

    path: Path
    program: Program

    @property
    def words(self) -> str:
        missing = self.program.missing
        if missing:
            return f"{self.path} has hooks of another Holdfast, whose {missing} is gone"
        return f"{self.path} has hooks of another Holdfast, {self.program.package}"


def find_installs(home: Path, project: Path, packages: Collection[str]) -> list[Install]:
    """All places that run the hooks of these packages in this project, and all Holdfast plugins.
    Files that cannot be read count as empty."""
    files = _settings_files(home, project)
    found = [
        Install(scope, path, tuple(installed_commands(path, packages)))
        for path, scope in files.items()
    ]
    with_hooks = [install for install in found if install.commands]
    return [*with_hooks, *_plugins(claude_folder(home), project, list(files))]


def find_others(home: Path, project: Path, packages: Collection[str]) -> list[OtherHoldfast]:
    """The Holdfasts that are not ours and whose hooks the settings of this project name."""
    found = dict[OtherHoldfast, None]()
    for path in _settings_files(home, project):
        for _, line in installed_commands(path):
            command = read_command(line)
            if command is not None and command.program.package not in packages:
                found[OtherHoldfast(path, command.program)] = None
    return list(found)


def _settings_files(home: Path, project: Path) -> dict[Path, str]:
    """Each file with its scope. If the project is the home folder, two scopes share a file."""
    files: dict[Path, str] = {}
    for scope in SCOPES:
        files.setdefault(settings_file(scope, home, project), scope)
    return files


def plugin_in(folder: Path) -> Install:
    """A plugin folder, enabled or not."""
    return _plugin(folder / HOOKS)


def _plugin(hooks: Path) -> Install:
    return Install("plugin", hooks, tuple(installed_commands(hooks)))


def _plugins(claude: Path, project: Path, settings_files: list[Path]) -> Iterator[Install]:
    """Plugins that the strongest settings enable, or that are installed and disabled nowhere."""
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
            yield _plugin(hooks) if hooks else Install("plugin", said_by, ())


def _installed_plugins(register: Path, project: Path) -> dict[str, Path | None]:
    """Names of Holdfast plugins, each with its hooks.json if that exists."""
    try:
        plugins = json.loads(register.read_bytes())["plugins"]
        names = [name for name in plugins if name.partition("@")[0] == PLUGIN]
        here = {name: _copies_for(plugins[name], project) for name in names}
        return {name: _hooks_file(copies) for name, copies in here.items() if copies}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _copies_for(entry: object, project: Path) -> list[dict[str, Any]]:
    """The installed copies, without those for other projects, which do not run in this one."""
    copies = entry if isinstance(entry, list) else [entry]
    known = [copy for copy in copies if isinstance(copy, dict)]
    return [copy for copy in known if copy.get("projectPath", str(project)) == str(project)]


def _hooks_file(copies: list[dict[str, Any]]) -> Path | None:
    for copy in copies:
        folder = copy.get("installPath")
        if isinstance(folder, str) and (Path(folder) / HOOKS).is_file():
            return Path(folder) / HOOKS
    return None


def silenced(project: Path) -> Iterator[str]:
    """Each setting that keeps our hooks from running, with the file or environment it is in."""
    files = settings_files.list_files(str(project), os.environ)  # weakest first
    said = [(path, settings_in(path)) for path in files]
    off = [(path, held["disableAllHooks"]) for path, held in said if "disableAllHooks" in held]
    if off and off[-1][1] is True:
        yield f"hooks are silenced: {off[-1][0]} says disableAllHooks; take that out"
    for name in OFF_WORDS:
        places = [("the environment", os.environ[name])] if name in os.environ else []
        blocks = [(path, held.get("env")) for path, held in said]
        places += [
            (f"`env` in {path}", str(block[name]))
            for path, block in blocks
            if isinstance(block, dict) and name in block
        ]
        if places and _turns_off(name, places[-1][1]):
            yield f"Holdfast is turned off: {name} is set in {places[-1][0]}; take that out"


def _turns_off(name: str, value: str) -> bool:
    """As the hook reads them: our variable turns it off at 1, the other one by being set."""
    return value == "1" if name == "HOLDFAST_DISABLE" else True

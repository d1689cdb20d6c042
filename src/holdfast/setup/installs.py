"""Where Holdfast is already installed, what keeps installed hooks from running, and what else a
user should know about an install.

In Claude Code's settings the stronger file wins, and an `env` block wins over the environment.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.client import claude_folder
from holdfast.client.agents import AGENTS, CodingAgent, named
from holdfast.setup import receipts, settings_text
from holdfast.setup.changes import InstallChange, bytes_of
from holdfast.setup.errors import InstallError, SettingsBroken
from holdfast.setup.install_parts import InstallPart, OwnFile, ServerPart, SettingsPart
from holdfast.setup.json_text import read
from holdfast.setup.receipts import our_packages
from holdfast.setup.targets import SCOPES, Target, settings_file
from holdfast.setup.wiring import ENTRY, Program, is_written_by_us, read_command, wrapped_in

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
    agent: CodingAgent = field(default=AGENTS[0], compare=False)

    @property
    def runnable(self) -> tuple[tuple[str, str], ...]:
        """The commands that the doctor may run. A project's settings come with the repository: of
        those, only lines that this Holdfast writes."""
        if self.scope in ("project", "local"):
            return tuple(command for command in self.commands if is_written_by_us(command[1]))
        return self.commands


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
        Install(scope, path, tuple(settings_text.installed_commands(path, packages)), named(scope))
        for path, scope in files.items()
    ]
    with_hooks = [install for install in found if install.commands]
    others = [
        replace(_plugin(hooks), agent=agent)
        for agent in AGENTS
        for hooks in agent.plugin_hooks(PLUGIN, os.environ)
    ]
    return [*with_hooks, *_plugins(claude_folder.folder_below(home), project, list(files)), *others]


def find_others(home: Path, project: Path, packages: Collection[str]) -> list[OtherHoldfast]:
    """The Holdfasts that are not ours and whose hooks the settings of this project name."""
    found = dict[OtherHoldfast, None]()
    for path in _settings_files(home, project):
        for _, line in settings_text.installed_commands(path):
            command = read_command(line)
            if command is not None and command.program.package not in packages:
                found[OtherHoldfast(path, command.program)] = None
    return list(found)


def unusable_settings(home: Path, project: Path) -> dict[Path, InstallError]:
    """The settings files that `install` would refuse, each with its error."""
    found: dict[Path, InstallError] = {}
    for path in _settings_files(home, project):
        try:
            part = SettingsPart(path, frozenset())
            part.check(part.read())
        except InstallError as error:
            found[path] = error
        except OSError as error:
            found[path] = SettingsBroken(f"{path} cannot be read: {error.strerror}")
    return found


def _settings_files(home: Path, project: Path) -> dict[Path, str]:
    """Each file with its scope. If the project is the home folder, two scopes share a file."""
    files: dict[Path, str] = {}
    for scope in SCOPES:
        files.setdefault(settings_file(scope, home, project), scope)
    own = {Path(file): agent.name for agent in AGENTS if (file := agent.hooks_file(os.environ))}
    return files | own


def _plugin(hooks: Path) -> Install:
    """The plugin's commands, with its folder in the place of the client's variable."""
    root = json.dumps(str(hooks.parents[1]))[1:-1].encode()
    try:
        text = (bytes_of(hooks) or b"").replace(b"${CLAUDE_PLUGIN_ROOT}", root).decode()
        settings = settings_text.check(settings_text.or_empty(text))
        return Install("plugin", hooks, tuple(settings_text.commands(settings)))
    except (OSError, UnicodeDecodeError, SettingsBroken):
        return Install("plugin", hooks, ())


def _plugins(claude: Path, project: Path, settings_files: list[Path]) -> Iterator[Install]:
    """Plugins that the strongest settings enable, or that are installed and disabled nowhere."""
    register = claude / "plugins" / "installed_plugins.json"
    installed = _installed_plugins(register, project)
    switched: dict[str, tuple[bool, Path]] = {}
    for path in settings_files:
        enabled = settings_text.settings_in(path).get("enabledPlugins")
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
        plugins = json.loads(bytes_of(register) or b"")["plugins"]
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
    files = (Path(str(copy.get("installPath"))) / HOOKS for copy in copies)
    return next((file for file in files if file.is_file()), None)


def settings_against_hooks(project: Path) -> Iterator[str]:
    """Each setting that keeps our hooks from running, with the file or environment it is in."""
    files = claude_folder.list_files(str(project), os.environ)  # weakest first
    settings = [(path, settings_text.settings_in(path)) for path in files]
    off = [(path, held["disableAllHooks"]) for path, held in settings if "disableAllHooks" in held]
    if off and off[-1][1] is True:
        yield f"hooks are silenced: {off[-1][0]} says disableAllHooks; remove that"
    for name in OFF_WORDS:
        places = [("the environment", os.environ[name])] if name in os.environ else []
        blocks = [(path, held.get("env")) for path, held in settings]
        places += [
            (f"`env` in {path}", str(block[name]))
            for path, block in blocks
            if isinstance(block, dict) and name in block
        ]
        # As the hook reads them: ours turns it off at 1, the other one by being set.
        if places and (name != OFF_WORDS[0] or places[-1][1] == "1"):
            yield f"Holdfast is turned off: {name} is set in {places[-1][0]}; remove that"


TAKE_OUT = "remove them by hand if nobody needs them"


def install_notes(
    target: Target, home: Path, ours: Path, wanted: Sequence[bytes | None]
) -> tuple[str, ...]:
    """Notes on an install. `wanted` is the planned content of each of the target's files."""
    project = target.project or Path.cwd()
    return (
        *_foreign_files(target, wanted),
        *(f"{other.words}; {TAKE_OUT}" for other in find_others(home, project, our_packages(ours))),
        *settings_against_hooks(project),
        *(other_receipts(ours, but=target.anchor) if target.project is None else ()),
        *_shared_file(target),
    )


def wrapping_notes(target: Target, edits: Sequence[InstallChange]) -> Iterator[str]:
    for edit in edits:
        if edit.path == target.anchor and edit.after is not None:
            command = settings_text.status_command_in(read(edit.after.decode()))
            if wrapped_in(command):
                yield "your own status line still runs; ours is shown after it"


def uninstall_notes(left: Iterable[tuple[InstallPart, bytes | None]]) -> tuple[str, ...]:
    own = "is not as we wrote it, so it was left alone"
    named = f"still names {ENTRY} in a line that is not ours as written"
    return tuple(
        f"{part.path} {own if isinstance(part, OwnFile) else named}"
        for part, data in left
        if data is not None and (isinstance(part, OwnFile) or ENTRY.encode() in data)
    )


def other_places(target: Target, home: Path, project: Path) -> Iterator[str]:
    """Other places of install, for a user who uninstalls where nothing is installed."""
    for other in find_installs(home, project, target.packages):
        if other.scope == "plugin" or other.path.resolve() != target.anchor.resolve():
            yield f"it is installed in {other.scope} scope: {other.path}"
    for one in find_others(home, project, target.packages):
        yield f"{one.words}; {TAKE_OUT}"


def _foreign_files(target: Target, wanted: Sequence[bytes | None]) -> Iterator[str]:
    for part, data in zip(target.parts, wanted, strict=True):
        if isinstance(part, OwnFile) and part.is_foreign(data):
            yield f"{part.path} is someone else's file, so it was left alone"
        if isinstance(part, ServerPart) and part.wanted and part.is_foreign(data):
            yield f"{part.path} has another MCP server named holdfast, so it was left alone"


def other_receipts(ours: Path, *, but: Path) -> Iterator[str]:
    """Installs on this machine that our receipts name and that still exist."""
    packages = our_packages(ours)
    for kept in receipts.load_all(ours):
        if Path(kept.anchor).resolve() == but.resolve():
            continue
        if kept.project and settings_text.installed_commands(Path(kept.anchor), packages):
            yield f"also installed in project {kept.project}: hooks run twice there"


def _shared_file(target: Target) -> Iterator[str]:
    if target.scope == "project":
        yield f"{target.anchor} names paths of this machine; if it is shared, use --scope local"
    if target.scope == "local":
        folder = target.anchor.parent / "commands" / "holdfast"
        yield f"{folder} names paths of this machine; keep it out of commits"

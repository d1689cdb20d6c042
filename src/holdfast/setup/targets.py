"""Where an install goes: the files of each scope."""

import os
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from holdfast.client import agents
from holdfast.client.agents import CodingAgent
from holdfast.client.claude_folder import folder_below
from holdfast.files.executable import console_command
from holdfast.setup import wiring
from holdfast.setup.install_parts import InstallPart, OwnFile, ServerPart, SettingsPart
from holdfast.setup.settings_text import installed_commands
from holdfast.wire.errors import HoldfastError

SCOPES = ("user", "project", "local")  # each overrides those before it
SKILLS = ("status", "checkpoint", "resume", "search", "compress", "plan")


@dataclass(frozen=True, slots=True)
class Target:
    """One place of install: its parts, and the file or folder that identifies it."""

    scope: str
    anchor: Path
    project: Path | None
    parts: tuple[InstallPart, ...]
    packages: frozenset[str] = frozenset()  # the Holdfasts whose lines are ours

    @property
    def agent(self) -> CodingAgent:
        return agents.named(self.scope)

    @property
    def words(self) -> str:
        """The options that name this place on the command line."""
        if option := self.agent.option:
            return option
        if self.project is None:
            return ""
        return f" --scope {self.scope} --project {shlex.quote(str(self.project))}"


def settings_file(scope: str, home: Path, project: Path) -> Path:
    if scope == "user":
        return folder_below(home) / "settings.json"
    name = "settings.local.json" if scope == "local" else "settings.json"
    return project / ".claude" / name


def server_part(
    scope: str, home: Path, project: Path, packages: frozenset[str], *, wanted: bool = True
) -> ServerPart:
    """Where Claude Code looks for MCP servers: the user's are in one file for all projects."""
    if scope == "project":
        return ServerPart(project / ".mcp.json", packages, wanted=wanted)
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    state = (Path(given).absolute() if given else home) / ".claude.json"
    own = ("projects", str(project)) if scope == "local" else ()
    return ServerPart(state, packages, (*own, "mcpServers"), wanted)


def settings_target(
    scope: str,
    home: Path,
    project: Path,
    packages: frozenset[str],
    *,
    server: bool = True,
    archive_chars: int | None = None,
    only_status_line: bool = False,
) -> Target:
    """Our parts in one settings scope; add a new kind of part here. If nothing is said about
    archiving, it stays as it is installed. Beside a plugin, only the status line is wanted."""
    settings = settings_file(scope, home, project)
    own = settings_file("user", home, project)
    if scope != "user" and settings.parent.resolve() == own.parent.resolve():
        words = f"the settings of {project} are your own, for all your projects: {own}"
        raise HoldfastError(words, "leave --scope out, or name another project with --project", 2)
    there = wiring.archive_chars(installed_commands(settings, packages))
    hooks = wiring.hook_table(there if archive_chars is None else archive_chars)
    overridden = reversed(SCOPES[: SCOPES.index(scope)])
    below = tuple(settings_file(s, home, project) for s in overridden)
    if only_status_line:
        line = SettingsPart(settings, packages, below, {})
        return Target(scope, settings, None if scope == "user" else project, (line,), packages)
    parts: tuple[InstallPart, ...] = (
        SettingsPart(settings, packages, below, hooks),
        server_part(scope, home, project, packages, wanted=server),
        *(
            OwnFile(
                settings.parent / "commands" / "holdfast" / f"{name}.md",
                skill(name),
                (console_command(),),
            )
            for name in SKILLS
        ),
    )
    return Target(scope, settings, None if scope == "user" else project, parts, packages)


def hooks_target(agent: CodingAgent, packages: frozenset[str]) -> Target:
    """Our hooks in an agent's own file of hooks; its scope is the agent's name."""
    path = Path(agent.hooks_file(os.environ))
    table = wiring.agent_table(agent)
    part = SettingsPart(path, packages, (), table, has_status_line=False)
    return Target(agent.name, path, None, (part,), packages)


def skill(name: str, command: str = "") -> str:
    """The text of `/holdfast:NAME`, for a command file and for a plugin's skill."""
    file = resources.files("holdfast.setup") / "skills" / f"{name}.md"
    return file.read_text("utf-8").replace("{command}", command or console_command())

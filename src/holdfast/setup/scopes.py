"""The places Claude Code reads settings from, and what we would put there."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from holdfast.client.settings_files import claude_folder
from holdfast.setup import wiring
from holdfast.setup.owned_files import OwnFile, Part, SettingsPart
from holdfast.setup.server_part import ServerPart
from holdfast.setup.settings_file import installed_commands

SCOPES = ("user", "project", "local")
BELOW: dict[str, tuple[str, ...]] = {  # whom each one overrides
    "user": (),
    "project": ("user",),
    "local": ("project", "user"),
}


SKILLS = ("status", "checkpoint", "resume", "search", "compress", "plan")


@dataclass(frozen=True, slots=True)
class Target:
    """One place of install: its parts, and the file or folder that it is known by."""

    scope: str
    anchor: Path
    project: Path | None
    parts: tuple[Part, ...]
    packages: frozenset[str] = frozenset()  # the Holdfasts whose lines are ours

    @property
    def words(self) -> str:
        """The options that name this place on the command line."""
        if self.scope == "user":
            return ""
        if self.project is None:
            return f" --plugin {shlex.quote(str(self.anchor))}"
        return f" --scope {self.scope} --project {shlex.quote(str(self.project))}"

    @property
    def doctor_words(self) -> str:
        """The options with which the doctor looks at this place."""
        if self.project is not None:
            return f" --project {shlex.quote(str(self.project))}"
        return self.words


def settings_file(scope: str, home: Path, project: Path) -> Path:
    if scope == "user":
        return claude_folder(home) / "settings.json"
    name = "settings.local.json" if scope == "local" else "settings.json"
    return project / ".claude" / name


def server_part(
    scope: str, home: Path, project: Path, packages: frozenset[str], *, wanted: bool = True
) -> ServerPart:
    """Where the client looks for MCP servers: one file for the user, whatever the project."""
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
) -> Target:
    """Our parts in one settings scope; a new kind of part joins the list here. What is said of
    archiving nowhere stays as it is there."""
    settings = settings_file(scope, home, project)
    below = tuple(settings_file(s, home, project) for s in BELOW[scope])
    parts: tuple[Part, ...] = (
        SettingsPart(settings, packages, below, hooks_wanted(settings, archive_chars, packages)),
        server_part(scope, home, project, packages, wanted=server),
        *(
            OwnFile(
                settings.parent / "commands" / "holdfast" / f"{name}.md",
                skill(name),
                (wiring.console_command(),),
                shared=True,
            )
            for name in SKILLS
        ),
    )
    return Target(scope, settings, None if scope == "user" else project, parts, packages)


def hooks_wanted(
    path: Path, archive_chars: int | None, packages: frozenset[str] | None = None
) -> wiring.HookTable:
    """What shall stand in this file; nothing said of archiving means: as it is there."""
    there = wiring.archive_chars(installed_commands(path, packages))
    return wiring.hook_table(there if archive_chars is None else archive_chars)


def skill(name: str) -> str:
    """`/holdfast:NAME`, as a command file and as a plugin's skill."""
    return packaged(f"{name}.md").replace("{command}", wiring.console_command())


def packaged(name: str) -> str:
    folder = resources.files("holdfast.setup") / "plugin_files"
    return (folder / name).read_text("utf-8")

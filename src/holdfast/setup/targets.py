"""Where an install goes: the files of each scope, or a plugin folder.

A plugin folder is also its own marketplace; it is written completely, for this machine.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import holdfast
from holdfast.client.settings_files import claude_folder
from holdfast.files.executable import console_command
from holdfast.setup import wiring
from holdfast.setup.changes import bytes_of
from holdfast.setup.errors import NotAPluginFolder
from holdfast.setup.install_parts import InstallPart, OwnFile, ServerPart, SettingsPart
from holdfast.setup.settings_text import installed_commands

SCOPES = ("user", "project", "local")
BELOW: dict[str, tuple[str, ...]] = {  # whom each one overrides
    "user": (),
    "project": ("user",),
    "local": ("project", "user"),
}


SKILLS = ("status", "checkpoint", "resume", "search", "compress", "plan")
NAME = "holdfast"
DESCRIPTION = "Claude Code stops forgetting your rules and your open work when it compacts."
MANIFEST = ".claude-plugin/plugin.json"
HOOKS = "hooks/hooks.json"


@dataclass(frozen=True, slots=True)
class Target:
    """One place of install: its parts, and the file or folder that identifies it."""

    scope: str
    anchor: Path
    project: Path | None
    parts: tuple[InstallPart, ...]
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
        """The options with which the doctor checks this place."""
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
) -> Target:
    """Our parts in one settings scope; add a new kind of part here. If nothing is said about
    archiving, it stays as it is installed."""
    settings = settings_file(scope, home, project)
    below = tuple(settings_file(s, home, project) for s in BELOW[scope])
    parts: tuple[InstallPart, ...] = (
        SettingsPart(settings, packages, below, hooks_for(settings, archive_chars, packages)),
        server_part(scope, home, project, packages, wanted=server),
        *(
            OwnFile(
                settings.parent / "commands" / "holdfast" / f"{name}.md",
                skill(name),
                (console_command(),),
                shared=True,
            )
            for name in SKILLS
        ),
    )
    return Target(scope, settings, None if scope == "user" else project, parts, packages)


def hooks_for(
    path: Path, archive_chars: int | None, packages: frozenset[str] | None = None
) -> wiring.HookTable:
    """The hooks for this file. If nothing is said about archiving, it stays as it is installed."""
    there = wiring.archive_chars(installed_commands(path, packages))
    return wiring.hook_table(there if archive_chars is None else archive_chars)


def skill(name: str) -> str:
    """The text of `/holdfast:NAME`, for a command file and for a plugin's skill."""
    return read_packaged(f"{name}.md").replace("{command}", console_command())


def read_packaged(name: str) -> str:
    folder = resources.files("holdfast.setup") / "plugin_files"
    return (folder / name).read_text("utf-8")


def plugin_target(folder: Path, *, archive_chars: int | None = None) -> Target:
    """All files of the plugin. A folder with other content is refused."""
    if folder.exists() and not folder.is_dir():
        raise NotAPluginFolder(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise NotAPluginFolder(f"{folder} is not empty and holds no Holdfast plugin")
    starts = wiring.server_entry()
    hooks = hooks_for(folder / HOOKS, archive_chars)
    lines = {
        hook["command"] for groups in hooks.values() for one in groups for hook in one["hooks"]
    }
    varying = (
        *(_escape(line) for line in (*lines, wiring.status_command())),
        console_command(),
        holdfast.__version__,
        *(_escape(word) for word in (starts["command"], starts["args"][-1])),
    )
    files = _files(folder, hooks)
    return Target(
        scope="plugin",
        anchor=folder,
        project=None,
        parts=tuple(OwnFile(folder / name, text, varying) for name, text in files.items()),
    )


def _files(folder: Path, hooks: wiring.HookTable) -> dict[str, str]:
    return {
        MANIFEST: _json(_manifest()),
        ".claude-plugin/marketplace.json": _json(_marketplace()),
        HOOKS: _json({"hooks": hooks}),
        ".mcp.json": _json({"mcpServers": {wiring.SERVER: wiring.server_entry()}}),
        **{f"skills/{name}/SKILL.md": skill(name) for name in SKILLS},
        "README.md": _readme(folder),
        "LICENSE": read_packaged("LICENSE"),
    }


def _manifest() -> dict[str, Any]:
    return {
        "name": NAME,
        "version": holdfast.__version__,
        "description": DESCRIPTION,
        "author": {"name": "The Holdfast authors"},
        "license": "Apache-2.0",
    }


def _marketplace() -> dict[str, Any]:
    return {
        "name": NAME,
        "description": "Holdfast alone, as installed on this machine.",
        "owner": {"name": "The Holdfast authors"},
        "plugins": [{"name": NAME, "source": "./"}],
    }


def _readme(folder: Path) -> str:
    text = read_packaged("README.md").replace("{folder}", shlex.quote(str(folder)))
    return text.replace("{status_line}", _json({"statusLine": wiring.status_line()}).rstrip())


def _is_ours(folder: Path) -> bool:
    try:
        return bool(json.loads(bytes_of(folder / MANIFEST) or b"")["name"] == NAME)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _escape(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

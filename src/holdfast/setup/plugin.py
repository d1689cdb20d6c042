"""Holdfast as a plugin folder, which is its own marketplace: written whole, for this machine."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import holdfast
from holdfast.setup import wiring
from holdfast.setup.errors import NotAPluginFolder
from holdfast.setup.owned_files import OwnFile
from holdfast.setup.scopes import SKILLS, Target, hooks_wanted, packaged, skill

NAME = "holdfast"
DESCRIPTION = (
    "Keeps a long Claude Code session whole: knows how full the context window is, "
    "and when it will run out."
)
MANIFEST = ".claude-plugin/plugin.json"
HOOKS = "hooks/hooks.json"


def plugin_target(folder: Path, *, archive_chars: int | None = None) -> Target:
    """All files of the plugin; a folder that holds something else is refused."""
    if folder.exists() and not folder.is_dir():
        raise NotAPluginFolder(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise NotAPluginFolder(f"{folder} is not empty and holds no Holdfast plugin")
    starts = wiring.server_entry()
    hooks = hooks_wanted(folder / HOOKS, archive_chars)
    lines = {
        hook["command"] for groups in hooks.values() for one in groups for hook in one["hooks"]
    }
    varying = (
        *(_escaped(line) for line in (*lines, wiring.status_command())),
        wiring.console_command(),
        holdfast.__version__,
        *(_escaped(word) for word in (starts["command"], starts["args"][-1])),
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
        "LICENSE": packaged("LICENSE"),
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
    text = packaged("README.md").replace("{folder}", shlex.quote(str(folder)))
    return text.replace("{status_line}", _json({"statusLine": wiring.status_line()}).rstrip())


def _is_ours(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / MANIFEST).read_bytes())["name"] == NAME)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

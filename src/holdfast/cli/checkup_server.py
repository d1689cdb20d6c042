"""What the doctor finds of our MCP server: where it is installed, and whether it lives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.client import server_trial
from holdfast.client.install.found import Install
from holdfast.client.install.scopes import SCOPES, server_part
from holdfast.client.install.wiring import SERVER, is_our_server, server_entry
from holdfast.client.server_trial import Started


@dataclass(frozen=True, slots=True)
class Servers:
    started: tuple[Started, ...]
    troubles: tuple[str, ...]
    notes: tuple[str, ...]


def look_at_servers(installs: list[Install], project: Path) -> Servers:
    """Start each that is installed; hooks without a server are worth a word, not a trouble."""
    found = list(_installed(installs, project))
    foreign = [path for path, entry in found if not _may_start(path, entry, project)]
    started = tuple(server_trial.start(*one) for one in found if one[0] not in foreign)
    mend = "run `holdfast install`"
    troubles = tuple(
        f"the MCP server of {one.path}: {one.trouble}; {mend}" for one in started if one.trouble
    )
    troubles += tuple(
        f"the MCP server of {path} was not started: this Holdfast did not write that entry; {mend}"
        for path in foreign
    )
    missing = not found and any(install.commands for install in installs)
    words = ("the model has no tools of ours: `holdfast install` adds the MCP server",)
    return Servers(started, troubles, words if missing else ())


def _may_start(path: Path, entry: dict[str, Any], project: Path) -> bool:
    """A project's file comes with the repository: from it, only what this Holdfast writes."""
    return path != project / ".mcp.json" or entry == server_entry()


def _installed(installs: list[Install], project: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    places = [server_part(scope, Path.home(), project) for scope in SCOPES]
    plugins = [one.path.parent.parent for one in installs if one.scope == "plugin"]
    files = [(place.path, place.servers) for place in places]
    files += [(folder / ".mcp.json", ("mcpServers",)) for folder in plugins]
    for path, keys in dict.fromkeys(files):
        entry = _read(path, (*keys, SERVER))
        if is_our_server(entry):
            yield path, entry


def _read(path: Path, keys: tuple[str, ...]) -> Any:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found

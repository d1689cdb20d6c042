"""What the doctor finds of our MCP server: where it is installed, and whether it lives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.setup.doctor import mcp_trial
from holdfast.setup.doctor.mcp_trial import Started
from holdfast.setup.existing import Install
from holdfast.setup.scopes import SCOPES, server_part
from holdfast.setup.wiring import SERVER, read_server, server_entry


@dataclass(frozen=True, slots=True)
class Servers:
    started: tuple[Started, ...]
    troubles: tuple[str, ...]
    notes: tuple[str, ...]


def look_at_servers(installs: list[Install], project: Path, packages: frozenset[str]) -> Servers:
    """Start each that is installed; hooks without a server are worth a word, not a trouble."""
    found = list(_installed(installs, project, packages))
    ours = [one for one in found if _may_start(*one, installs, project, packages)]
    started = tuple(mcp_trial.start(*one) for one in ours)
    mend = "run `holdfast install`"
    troubles = tuple(
        f"the MCP server of {one.path}: {one.trouble}; {mend}" for one in started if one.trouble
    )
    troubles += tuple(
        f"the MCP server of {path} was not started: this Holdfast did not write that entry; "
        f"take it out and {mend}"
        for path, _ in (one for one in found if one not in ours)
    )
    missing = not found and any(install.commands for install in installs)
    words = ("the model has no tools of ours: `holdfast install` adds the MCP server",)
    return Servers(started, troubles, words if missing else ())


def _may_start(
    path: Path,
    entry: dict[str, Any],
    installs: list[Install],
    project: Path,
    packages: frozenset[str],
) -> bool:
    """Ours, and a plugin's whoever wrote it. A project's file comes with the repository: from it,
    only what this Holdfast writes."""
    if path == project / ".mcp.json":
        return bool(entry == server_entry())
    program = read_server(entry)
    known = program is not None and program.package in packages
    return known or path.parent in _plugin_folders(installs)


def _plugin_folders(installs: list[Install]) -> list[Path]:
    return [one.path.parent.parent for one in installs if one.scope == "plugin"]


def _installed(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The servers of every Holdfast that the client would start here."""
    places = [server_part(scope, Path.home(), project, packages) for scope in SCOPES]
    files = [(place.path, place.servers) for place in places]
    files += [(folder / ".mcp.json", ("mcpServers",)) for folder in _plugin_folders(installs)]
    for path, keys in dict.fromkeys(files):
        entry = _read(path, (*keys, SERVER))
        if read_server(entry) is not None:
            yield path, entry


def _read(path: Path, keys: tuple[str, ...]) -> Any:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found

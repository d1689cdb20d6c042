"""The doctor's check of our MCP server: where it is installed, and whether it starts and ends."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.setup.changes import bytes_of
from holdfast.setup.doctor.hooks import environment_in
from holdfast.setup.installs import Install
from holdfast.setup.targets import SCOPES, server_part
from holdfast.setup.wiring import ROOT, SERVER, read_server, server_entry
from holdfast.wire.places import user_home

TRIAL_SECONDS = 30.0
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "holdfast-doctor", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class ServersCheck:
    started: tuple[StartedServer, ...]
    troubles: tuple[str, ...]
    notes: tuple[str, ...]


def look_at_servers(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> ServersCheck:
    """Start each installed server. Hooks without a server are a note, not a problem."""
    found = list(_installed_servers(installs, project, packages))
    ours = [one for one in found if _may_start(*one, installs, project, packages)]
    started = tuple(start(*one) for one in ours)
    fix = "run `holdfast install`"
    troubles = tuple(
        f"the MCP server of {one.path}: {one.trouble}; {fix}" for one in started if one.trouble
    )
    troubles += tuple(
        f"the MCP server of {path} was not started: this Holdfast did not write that entry; "
        f"remove it and {fix}"
        for path, _ in (one for one in found if one not in ours)
    )
    missing = not found and any(install.commands for install in installs)
    words = ("the model has no tools of Holdfast: `holdfast install` adds the MCP server",)
    return ServersCheck(started, troubles, words if missing else ())


def _may_start(
    path: Path,
    entry: dict[str, Any],
    installs: list[Install],
    project: Path,
    packages: frozenset[str],
) -> bool:
    """Whether the doctor may start it: ours, and a plugin's. A project's file comes with the
    repository, so from it only what this Holdfast writes."""
    if path == project / ".mcp.json":
        return bool(entry == server_entry())
    program = read_server(entry)
    known = program is not None and program.package in packages
    return known or path.parent in _plugin_folders(installs)


def _plugin_folders(installs: list[Install]) -> list[Path]:
    return [install.path.parent.parent for install in installs if install.scope == "plugin"]


def _installed_servers(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The servers of every Holdfast that Claude Code would start here."""
    places = [server_part(scope, Path(user_home()), project, packages) for scope in SCOPES]
    files = [(place.path, place.servers) for place in places]
    files += [(folder / ".mcp.json", ("mcpServers",)) for folder in _plugin_folders(installs)]
    for path, keys in dict.fromkeys(files):
        entry = _in_folder(_read(path, (*keys, SERVER)), path.parent)
        if read_server(entry) is not None:
            yield path, entry


def _in_folder(entry: Any, plugin: Path) -> Any:
    """A plugin's entry with its folder in the place of the client's variable."""
    if not isinstance(entry, dict) or not isinstance(entry.get("args"), list):
        return entry
    return {**entry, "args": [str(word).replace(ROOT, str(plugin)) for word in entry["args"]]}


def _read(path: Path, keys: tuple[str, ...]) -> Any:
    try:
        found = json.loads(bytes_of(path) or b"")
    except (OSError, ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


@dataclass(frozen=True, slots=True)
class StartedServer:
    """One server that was started; `trouble` says what it failed to do."""

    path: str
    ok: bool
    milliseconds: float
    tools: tuple[str, ...]
    trouble: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def start(path: Path, entry: dict[str, Any]) -> StartedServer:
    """Start a server in a HOLDFAST_HOME of its own, so that no real session is touched."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        tools, trouble = _try_server([entry["command"], *entry["args"]], Path(folder))
    milliseconds = round((time.perf_counter() - begun) * 1000, 1)
    return StartedServer(str(path), not trouble, milliseconds, tools, trouble)


def _try_server(command: list[str], folder: Path) -> tuple[tuple[str, ...], str]:
    """Ask for its tools and close its input, upon which it must end. Returns the tools, and what
    it failed to do."""
    requests: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    )
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    try:
        run = subprocess.run(
            command,
            input=lines.encode(),
            capture_output=True,
            cwd=folder,
            env=environment_in(folder),
            timeout=TRIAL_SECONDS,
            check=False,
        )
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        listed = next(answer["result"] for answer in answers if answer.get("id") == 2)
        tools = tuple(str(tool["name"]) for tool in listed["tools"])
    except subprocess.TimeoutExpired:
        return (), "did not end with its input"
    except OSError as error:
        return (), f"does not start: {error}"
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        errors = run.stderr.decode("utf-8", "replace").strip()
        return (), (errors.splitlines()[-1][:300] if errors else "did not answer as a server does")
    return tools, "" if tools else "has no tools"

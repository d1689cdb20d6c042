"""`holdfast doctor`: fire every installed hook, and say what reached the client."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from holdfast.client import doctor as client_doctor
from holdfast.client import payloads
from holdfast.client.doctor import Fired
from holdfast.client.install.found import find_installs
from holdfast.settings import load as settings_load
from holdfast.transcript import Reader
from holdfast.window.state import all_windows
from holdfast.wire import log as guard_log
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

RECENT_DAYS = 2
ERRORS_SHOWN = 5


class ClientNotFound(HoldfastError):
    exit_code = 2
    hint = "install Claude Code, or name the binary: --client-binary FILE"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
@click.option("--project", type=click.Path(path_type=Path), default=Path.cwd, help="look here too")
@click.option("--client", is_flag=True, help="run the real client offline through a whole cycle")
@click.option("--client-binary", type=click.Path(path_type=Path), help="which `claude` to run")
@click.pass_context
def doctor(
    ctx: click.Context,
    as_json: bool,
    project: Path,
    client: bool,
    client_binary: Path | None,
) -> None:
    """Fire every installed hook end to end; exit 1 when something is wrong."""
    found = examine(project)
    if client or client_binary:
        found["client"] = _cycle(client_binary)
        found["troubles"] += found["client"]["troubles"]
    found["ok"] = not found["troubles"]
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        _show(found)
    ctx.exit(0 if found["ok"] else 1)


def examine(project: Path) -> dict[str, Any]:
    """Everything that can be known without starting a client."""
    installs = find_installs(Path.home(), project)
    fired = [one for install in installs for one in client_doctor.fire_all(list(install.commands))]
    settings = settings_load.load(str(project))
    troubles = [f"{one.event}: {one.trouble}" for one in fired if one.trouble]
    if not installs:
        troubles.append("no hook of ours is installed; `holdfast install` does that")
    if len(installs) > 1:
        places_of = ", ".join(str(install.path) for install in installs)
        troubles.append(f"installed in {len(installs)} places, hooks run twice: {places_of}")
    if installs and (missing := _missing(fired)):
        troubles.append("not installed for " + ", ".join(missing))
    troubles += _home_troubles()
    return {
        "installs": [{"scope": one.scope, "path": str(one.path)} for one in installs],
        "hooks": [one.as_json() for one in fired],
        "settings_slips": list(settings.slips),
        "recent_errors": _recent_errors(),
        "transcript_lines": _tallies(),
        "troubles": troubles + list(settings.slips),
    }


def _missing(fired: list[Fired]) -> list[str]:
    have = {one.event for one in fired}
    return [event for event in payloads.EVENTS if event not in have]


def _home_troubles() -> list[str]:
    """Whether our own folder can be written, and is the user's alone."""
    home = Path(places.home())
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as slip:
        return [f"{home} cannot be written: {slip}"]
    if home.stat().st_mode & 0o077:
        return [f"{home} can be read by others; `chmod 700 {home}` mends that"]
    return []


def _recent_errors() -> list[str]:
    """What hooks had to skip in the last two days."""
    path = Path(guard_log.path())
    if not path.is_file():
        return []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - RECENT_DAYS * 86_400))
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if line >= since and " ERROR " in line][-ERRORS_SHOWN:]


def _tallies() -> dict[str, Any]:
    """Lines of the newest session's transcript: what was understood, and what was not."""
    for _, state in all_windows()[:1]:
        if not Path(state.transcript).is_file():
            return {}
        reader = Reader(Path(state.transcript))
        for _entry in reader:
            pass
        return reader.tally.as_dict()
    return {}


def _cycle(binary: Path | None) -> dict[str, Any]:
    """Fill, alert, compaction: the real client against a scripted API, cut off from any network."""
    from holdfast.client.install.wiring import hook_table
    from holdfast.client.trial.cycle import run_cycle
    from holdfast.client.trial.heard import compactions, heard, hook_faults

    found = binary or (Path(which) if (which := shutil.which("claude")) else None)
    if found is None or not found.is_file():
        raise ClientNotFound("no `claude` was found")
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        project.mkdir()
        trial = run_cycle(
            found,
            project,
            home,
            settings={"hooks": hook_table()},
            env={"HOLDFAST_HOME": str(home / ".holdfast")},
        )
        said = sorted({text for request in trial.requests for text in heard(request)})
        troubles = hook_faults(trial)
        if not compactions(trial):
            troubles.append("the client did not compact")
        if not said:
            troubles.append("no alert reached the API")
        return {
            "binary": os.fspath(found),
            "requests": len(trial.requests),
            "compactions": compactions(trial),
            "alerts_the_api_received": said,
            "troubles": troubles,
        }


def _show(found: dict[str, Any]) -> None:
    for install in found["installs"]:
        click.echo(f"installed: {install['scope']}, {install['path']}")
    for hook in found["hooks"]:
        mark = "ok " if hook["ok"] else "BAD"
        click.echo(
            f"  {mark} {hook['event']:<19} {hook['milliseconds']:>6.0f} ms  {_reached(hook)}"
        )
    for line in found["recent_errors"]:
        click.echo(f"  log: {line}")
    if unknown := {k: v for k, v in found["transcript_lines"].items() if v}:
        click.echo(f"  newest transcript: {unknown}")
    if "client" in found:
        client = found["client"]
        click.echo(
            f"real client: {client['requests']} requests, {client['compactions']} compaction"
        )
        for text in client["alerts_the_api_received"]:
            click.echo(f"  the API received: {text}")
    for trouble in found["troubles"]:
        click.echo(f"trouble: {trouble}", err=True)
    click.echo("all is well" if found["ok"] else "not all is well")


def _reached(hook: dict[str, Any]) -> str:
    parts = []
    if hook["reached_model"]:
        parts.append(f"to the model: {hook['reached_model']}")
    if hook["reached_user"]:
        parts.append(f"to the user: {hook['reached_user']}")
    return "; ".join(parts) or ("silent, as it should be" if hook["ok"] else hook["trouble"])

"""`holdfast status`: how full the window is, on one screen."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from holdfast.cli import choose, colours
from holdfast.cli.choose import Chosen
from holdfast.settings import load as settings_load
from holdfast.window import health, readings, view


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="read this file")
@click.option("--session", default="", help="id, or the start of one")
@click.option("--agent", default="", help="a subagent's id, or the start of one")
@click.option("--all", "everything", is_flag=True, help="every window that has not ended")
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def status(
    transcript: Path | None, session: str, agent: str, everything: bool, as_json: bool
) -> None:
    """How full the window is, and how long it lasts."""
    if transcript is not None:
        reports = [report(choose.by_transcript(transcript))]
    elif everything:
        reports = [report(one) for one in choose.windows(session, agent)]
    else:
        reports = [report(choose.newest(session, agent))]
    if as_json:
        click.echo(json.dumps(reports if everything else reports[0], indent=2))
        return
    for one in reports:
        show(one)


def report(chosen: Chosen) -> dict[str, Any]:
    settings = settings_load.load(chosen.state.project)
    seen = view.of_transcript(chosen.state, settings, int(time.time() * 1000), chosen.folder)
    found = health.describe(seen, chosen.state)
    found["settings_slips"] = list(settings.slips)
    found["readings"] = readings.of(chosen.folder)
    return found


def show(found: dict[str, Any]) -> None:
    """One screen for a person."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    zone = str(found["zone"])
    head = Text("context ", style="bold")
    head.append_text(colours.bar(found["used_ratio"], zone))
    head.append(f" {found['used_ratio']:.1%} ", style=colours.ZONE_STYLE[zone])
    head.append(zone, style=colours.ZONE_STYLE[zone])
    if found["alert"]:
        head.append(f", {found['alert']}", style=colours.ALERT_STYLE[found["alert"]])
    console.print(head)
    for label, text in _rows(found):
        console.print(Text(f"  {label:<12}", style="dim") + Text(text))


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    about = "about " if found["estimated"] else ""
    used = f"{about}{found['used_tokens']:,} of {found['edge_tokens']:,} tokens"
    window = f"{found['window_tokens']:,} tokens, {found['edge_source']}"
    rows = [
        ("used", f"{used} (known by: {found['basis']})"),
        ("window", window),
        ("left", colours.left(found["ops_left"], found["minutes_left"])),
        ("forecast", found["forecast_basis"]),
        ("session", _who(found)),
        ("model", f"{found['model'] or 'unknown'}, client {found['client_version'] or 'unknown'}"),
    ]
    if len(found["readings"]) > 1:
        rows.insert(3, ("lately", colours.sparkline(found["readings"][-40:], found["edge_tokens"])))
    if found["switches"]:
        turned = ", ".join(f"{name}={value}" for name, value in found["switches"].items())
        rows.append(("switches", turned))
    if found["checkpoint_trigger"]:
        rows.append(("checkpoint", f"asked for by the {found['checkpoint_trigger']}"))
    return rows + [("settings", slip) for slip in found["settings_slips"]]


def _who(found: dict[str, Any]) -> str:
    agent = f", agent {found['agent_id']}" if found["agent_id"] else ""
    return f"{found['session_id']}{agent} in {found['cwd'] or 'an unknown folder'}"

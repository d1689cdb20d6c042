"""`holdfast statusline`: what the installed status line prints, and a preview of its presets."""

from __future__ import annotations

import sys

import click

from holdfast.cli.terminal import has_colour, say
from holdfast.events import status_line
from holdfast.events.status_line import StatusFacts
from holdfast.settings import load as settings_load
from holdfast.settings.table import BY_NAME
from holdfast.wire import scan

EXAMPLES = (
    StatusFacts(38_000, 167_000, "green", model="Sonnet 4.6", ops_left=95, pace_ms=21_000),
    StatusFacts(
        131_000,
        167_000,
        "orange",
        "warning",
        model="Sonnet 4.6",
        ops_left=28,
        pace_ms=21_000,
        saved="saved 12 min ago",
    ),
    StatusFacts(
        163_000,
        167_000,
        "red",
        "critical",
        model="Sonnet 4.6",
        ops_left=3,
        pace_ms=21_000,
        saved="saved just now",
    ),
)


@click.command()
@click.option("--preview", is_flag=True, help="Show what each preset looks like.")
def statusline(preview: bool) -> None:
    """Print the status line for a payload on stdin. Claude Code starts this by itself."""
    if preview or sys.stdin.isatty():
        return _preview()
    data = sys.stdin.buffer.read()
    click.echo(status_line.show(scan.parse_object(data), data), nl=False, color=True)


def _preview() -> None:
    """Print a preview: a user who runs this on a terminal wants to see the line."""
    now = settings_load.load().word("status_line")
    for preset in BY_NAME["status_line"].choices:
        say(f"{preset}{' (yours)' if preset == now else ''}:")
        for facts in EXAMPLES:
            say(f"  {status_line.format_line(facts, preset, colour=has_colour(sys.stdout))}")
    say("Choose one: holdfast settings set status_line full", err=True)

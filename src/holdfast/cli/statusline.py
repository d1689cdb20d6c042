"""`holdfast statusline`: what the installed status line prints, for trying it by hand."""

from __future__ import annotations

import sys

import click

from holdfast.events import status_line
from holdfast.wire import scan


@click.command()
def statusline() -> None:
    """Read Claude Code's status payload on stdin, print one line."""
    data = sys.stdin.buffer.read()
    click.echo(status_line.show(scan.parse_object(data), data), nl=False)

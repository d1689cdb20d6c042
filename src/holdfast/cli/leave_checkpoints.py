"""`holdfast uninstall --checkpoints`: the folders in your projects, and letting them go."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.checkpoint import leave
from holdfast.checkpoint.escape import shown
from holdfast.wire import places


def leave_checkpoints(*, go: bool) -> None:
    """List every project's folder; with `go`, remove those that hold only our files."""
    found = leave.folders_left([str(Path.cwd())])
    for left in found:
        why = left.why or (leave.remove(left) if go else "")
        done = "stays" if why else "removed" if go else "would go"
        counted = f"{left.checkpoints} checkpoint{'' if left.checkpoints == 1 else 's'}"
        click.echo(f"{done:<8} {shown(left.path)}: {shown(why) or counted}")
    if not found:
        click.echo("no project holds checkpoints of ours", err=True)
    elif not go:
        click.echo("Nothing was removed; --yes removes those that would go.", err=True)
    click.echo(f"All else of ours lies in {places.home()}.", err=True)

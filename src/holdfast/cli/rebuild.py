"""`holdfast rebuild`: make everything again that can be made from the files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.checkpoint import index
from holdfast.checkpoint import rebuild as rebuilding
from holdfast.checkpoint.escape import shown
from holdfast.cli import verify as verify_command


@click.command()
@click.option(
    "--project",
    "projects",
    multiple=True,
    type=click.Path(path_type=Path),
    help="look into this project too; the current folder always is",
)
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def rebuild(projects: tuple[Path, ...], as_json: bool) -> None:
    """Read the checkpoint files again and write the index anew."""
    also = [str(one.absolute()) for one in (Path.cwd(), *projects)]
    found = rebuilding.rebuild(also)
    if as_json:
        click.echo(json.dumps(plain(found)))
        return
    click.echo(
        f"{index.path()}: {len(found.entries)} checkpoints of {len(found.projects)} projects"
    )
    for label, things in _changes(found).items():
        for thing in things:
            click.echo(f"  {label}: {shown(thing)}")
    if found.damaged:
        click.echo("not as they were kept; the files were left alone:")
        verify_command.show(found.damaged)


def plain(found: rebuilding.Rebuilt) -> dict[str, object]:
    return {
        "index": index.path(),
        "checkpoints": len(found.entries),
        "projects": found.projects,
        "damaged": [verify_command.plain(one) for one in found.damaged],
        "added": found.added,
        "dropped": found.dropped,
        "snapshots": found.snapshots,
    }


def _changes(found: rebuilding.Rebuilt) -> dict[str, list[str]]:
    return {"added": found.added, "dropped": found.dropped, "snapshot made again": found.snapshots}

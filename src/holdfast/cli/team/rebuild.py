"""`holdfast rebuild`: make everything again that can be made from the files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.checkpoint import index
from holdfast.checkpoint import rebuild as rebuilding
from holdfast.cli.saving import checkpoint as verify_command
from holdfast.cli.terminal import say
from holdfast.text.escape import shown

if TYPE_CHECKING:
    from holdfast.hub.repair.rebuild import Rebuilt


@click.command()
@click.option(
    "--project",
    "projects",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also read this project; can be repeated.",
)
@click.option("--database", default="", metavar="URL", help="sqlite:///… or postgresql://…")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rebuild(projects: tuple[Path, ...], database: str, as_json: bool) -> None:
    """Make index and rows again from checkpoint files, transcripts and what hooks noted."""
    from holdfast.hub.repair import rebuild as rows
    from holdfast.memory import maintenance as recall

    also = [str(one.absolute()) for one in (Path.cwd(), *projects)]
    found = rebuilding.rebuild(also)
    filled = rows.rebuild(database)
    indexed = recall.rebuild(also)
    if as_json:
        told = {"database": dataclasses.asdict(filled), "recall": [i._asdict() for i in indexed]}
        click.echo(json.dumps({**plain(found), **told}))
        return
    show(found)
    show_rows(filled)
    for one in indexed:
        say(f"{shown(one.project)}: {one.items:,} items to search in")
        for note in one.notes:
            say(f"  {shown(note)}")


def show(found: rebuilding.RebuiltIndex) -> None:
    say(f"{index.path()}: {len(found.entries)} checkpoints of {len(found.projects)} projects")
    for label, things in _changes(found).items():
        for thing in things:
            say(f"  {label}: {shown(thing)}")
    if found.damaged:
        say("changed since they were saved; the files were not touched:")
        verify_command.show_reports(found.damaged)


def show_rows(filled: Rebuilt) -> None:
    if filled.set_aside:
        say(f"the database was damaged; it is saved as {filled.set_aside}")
        saved = ", ".join(f"{n} {name}" for name, n in filled.saved.items()) or "nothing"
        say(f"  read from it: {saved}; restart holdfast serve if it runs")
    told = filled.synced
    say(
        f"{filled.database}: {told.requests} requests, {told.tasks} tasks, "
        f"{told.subtasks} subtasks, {told.actions} actions, {told.checkpoints} checkpoints"
    )


def plain(found: rebuilding.RebuiltIndex) -> dict[str, object]:
    return {
        "index": index.path(),
        "checkpoints": len(found.entries),
        "projects": found.projects,
        "damaged": [verify_command.plain_report(one) for one in found.damaged],
        "added": found.added,
        "dropped": found.dropped,
        "snapshots": found.snapshots,
        "foreign": found.foreign,
    }


def _changes(found: rebuilding.RebuiltIndex) -> dict[str, list[str]]:
    return {
        "added": found.added,
        "dropped": found.dropped,
        "snapshot made again": found.snapshots,
        "not made on this machine": found.foreign,
    }

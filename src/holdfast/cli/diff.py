"""`holdfast diff`: what changed between two checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.checkpoint import find, lineage, parse
from holdfast.checkpoint.document import Document
from holdfast.checkpoint.entry import Entry
from holdfast.checkpoint.escape import escape


@click.command()
@click.argument("older", type=click.Path(), default=find.PREVIOUS)
@click.argument("newer", type=click.Path(), default=find.LATEST)
@click.option("--project", type=click.Path(path_type=Path), help="of this project")
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def diff(older: str, newer: str, project: Path | None, as_json: bool) -> None:
    """What changed from OLDER to NEWER: ids, files, `previous`, `latest`."""
    where = str((project or Path.cwd()).absolute())
    before, after = find.named(older, where), find.named(newer, where)
    changes = lineage.compare(_document(before), _document(after))
    if as_json:
        click.echo(json.dumps(plain(before, after, changes)))
        return
    click.echo(f"{before.id} → {after.id}")
    for change in changes:
        click.echo(f"\n## {escape(change.heading)}")
        for sign, items in (("-", change.removed), ("+", change.added)):
            for item in items:
                click.echo(f"{sign} " + escape(item).replace("\n", "\n  "))
    if not changes:
        click.echo("no item was added or removed", err=True)


def plain(before: Entry, after: Entry, changes: list[lineage.Change]) -> dict[str, object]:
    return {
        "older": before.path,
        "newer": after.path,
        "sections": {one.heading: {"added": one.added, "removed": one.removed} for one in changes},
    }


def _document(entry: Entry) -> Document:
    return parse.parse(parse.load(entry.path)).document

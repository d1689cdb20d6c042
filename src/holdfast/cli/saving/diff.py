"""`holdfast diff`: what changed between two checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.checkpoint import find, lineage, parse
from holdfast.checkpoint.document import Document
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.cli import choose_session
from holdfast.cli.terminal import say
from holdfast.text.escape import escape, shown


@click.command()
@click.argument("older", type=click.Path(), required=False)
@click.argument("newer", type=click.Path(), default=find.LATEST)
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The project's folder (default: this folder).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(older: str | None, newer: str, project: Path | None, as_json: bool) -> None:
    """What changed from OLDER to NEWER: ids, files, `previous`, `latest`. Without them: from the
    parent of this session's newest checkpoint to that one."""
    where = str((project or Path.cwd()).absolute())
    if older is None:
        before, after = find.newest_with_parent(where, choose_session.asking())
    else:
        before, after = find.named(older, where), find.named(newer, where)
    changes = lineage.compare(_document(before), _document(after))
    if as_json:
        click.echo(json.dumps(plain(before, after, changes)))
        return
    say(_compared(before, after), err=True)
    say(f"{before.id} → {after.id}")
    for change in changes:
        say(f"\n## {escape(change.heading)}")
        for sign, items in (("-", change.removed), ("+", change.added)):
            for item in items:
                say(f"{sign} " + escape(item).replace("\n", "\n  "))
    if not changes:
        say("No item was added or removed.", err=True)


def _compared(before: CheckpointEntry, after: CheckpointEntry) -> str:
    """Which two these are: of one session, or of two that have nothing to do with each other."""
    ends = [f"number {one.iteration} of session {shown(_window(one))}" for one in (before, after)]
    if _window(before) == _window(after):
        ends[0] = f"number {before.iteration}"
    return f"comparing {ends[0]} with {ends[1]}"


def _window(one: CheckpointEntry) -> str:
    return f"{one.session_id}, agent {one.agent_id}" if one.agent_id else one.session_id


def plain(
    before: CheckpointEntry, after: CheckpointEntry, changes: list[lineage.SectionChange]
) -> dict[str, object]:
    return {
        "older": before.path,
        "newer": after.path,
        "older_session_id": before.session_id,
        "newer_session_id": after.session_id,
        "sections": {one.heading: {"added": one.added, "removed": one.removed} for one in changes},
    }


def _document(entry: CheckpointEntry) -> Document:
    return parse.parse(parse.load(entry.path)).document

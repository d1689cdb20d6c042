"""`holdfast plan`: a list of tasks as batches that fit the room left."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from holdfast.cli import rooms
from holdfast.cli.replay import write_drawing
from holdfast.cli.token_count import TokenCount
from holdfast.client.transcripts_folder import transcripts_folder
from holdfast.plan import past, read
from holdfast.plan.make import make
from holdfast.plan.mermaid import mermaid as mermaid_text
from holdfast.plan.picture import svg as picture
from holdfast.plan.workflow import Workflow, as_json
from holdfast.settings import load as settings_load
from holdfast.wire.inert import inert

MOST_NOTES = 30


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_plain", is_flag=True, help="plain values for programs")
@click.option("--mermaid", is_flag=True, help="the workflow as mermaid text")
@click.option("--svg", type=click.Path(path_type=Path), help="draw into this file as well")
@click.option("--room", "told", type=TokenCount(), help="tokens a batch may take")
@click.option("--window", type=TokenCount(), help="plan for a fresh window of this size")
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="where the files of the plan lie (else: here)",
)
def plan(
    file: Path,
    as_plain: bool,
    mermaid: bool,
    svg: Path | None,
    told: int | None,
    window: int | None,
    project: Path | None,
) -> None:
    """A list of tasks as batches that fit the room left; FILE may be - for stdin."""
    root = (project or Path.cwd()).resolve()
    stdin = str(file) == "-"
    given = read.taken(_stdin(), root) if stdin else read.load(file, root)
    settings = settings_load.load(str(root))
    known = past.learn(root, transcripts_folder())
    found = make(
        given, rooms.for_plan(settings, project and root, told, window, _now_ms()), known, root
    )
    if svg is not None:
        write_drawing(picture(found), svg)
    if as_plain:
        click.echo(json.dumps(as_json(found), indent=2))
    elif mermaid:
        click.echo(mermaid_text(found), nl=False)
    else:
        _show(found)
    if not as_plain:
        show_notes(found.warnings)


def show_notes(notes: Sequence[str]) -> None:
    for words in notes[:MOST_NOTES]:
        click.echo(f"  note: {inert(words)}", err=True)
    if len(notes) > MOST_NOTES:
        click.echo(f"  and {len(notes) - MOST_NOTES:,} more notes: --json has all", err=True)


def _stdin() -> bytes:
    return sys.stdin.buffer.read(read.MOST_BYTES + 1)


def _show(found: Workflow) -> None:
    from holdfast.cli.plan_table import show  # rich: not for those who ask for --json

    show(found)


def _now_ms() -> int:
    return int(time.time() * 1000)

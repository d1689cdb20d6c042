"""`holdfast plan`: a list of tasks as batches that fit the room left."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli.everyday.replay import write_drawing
from holdfast.cli.planning import plan_room
from holdfast.cli.progress import ticker
from holdfast.cli.terminal import say
from holdfast.cli.token_count import TokenCount
from holdfast.client.settings_files import transcripts_folder
from holdfast.plan.estimates import past
from holdfast.plan.formats import read
from holdfast.plan.picture import draw_mermaid as mermaid_text
from holdfast.plan.picture import draw_svg as picture
from holdfast.plan.planner import make_workflow
from holdfast.plan.workflow import Workflow, as_json
from holdfast.redact import redact_each
from holdfast.run import remaining_plan as begun_plan
from holdfast.run.remaining_plan import ContinuedPlan
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, named
from holdfast.wire.log import inert

MOST_NOTES = 30


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_plain", is_flag=True, help="Print JSON.")
@click.option("--mermaid", is_flag=True, help="Print the order of the tasks as a Mermaid diagram.")
@click.option(
    "--svg", type=click.Path(path_type=Path), help="Also draw an SVG picture into this file."
)
@click.option("--room", "told", type=TokenCount(), help="Tokens that a batch may take.")
@click.option("--window", type=TokenCount(), help="Plan for a new window of this size.")
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where the files of the plan are (default: this folder).",
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
    begun = (
        ContinuedPlan(read.decode_plan(_stdin(), root))
        if stdin
        else begun_plan.load_remaining(file, root)
    )
    settings = settings_load.load(str(root))
    room = plan_room.for_plan(settings, project and root, told, window, _now_ms())
    with ticker() as progress:
        known = past.learn(root, transcripts_folder(), progress=progress)
        found = make_workflow(begun.plan, room, known, root, progress)
    if begun.note:
        found = replace(found, warnings=(*found.warnings, begun.note))
    if svg is not None:
        write_drawing(picture(found), svg)
    if as_plain:
        click.echo(json.dumps(redact_each(as_json(found)), indent=2))
    elif mermaid:
        click.echo(mermaid_text(found), nl=False)
    else:
        _show(found)
    if not as_plain:
        show_notes(found.warnings)
    if not (as_plain or mermaid or stdin):
        _say_next(_run_words(file, project, told, window), begun.ran, bool(found.batches))


def _say_next(run: str, ran: int, is_left: bool) -> None:
    if ran:
        did = f"{counted(ran, 'task')} of it {'was' if ran == 1 else 'were'} done by a run"
        say(f"  {did}: {run} --status says more", err=True)
    if is_left:
        say(f"  next: {run}", err=True)


def _run_words(file: Path, project: Path | None, told: int | None, window: int | None) -> str:
    """How the same is said to `holdfast run`."""
    where = ["--project", os.fspath(project)] if project else []
    size = ["--room", str(told)] if told else ["--window", str(window)] if window else []
    return inert(shlex.join(["holdfast", "run", os.fspath(file), *where, *size]))


def show_notes(notes: Sequence[str]) -> None:
    for words in notes[:MOST_NOTES]:
        say(f"  note: {named(words)}", err=True)
    if len(notes) > MOST_NOTES:
        say(f"  and {len(notes) - MOST_NOTES:,} more notes: --json has all", err=True)


def _stdin() -> bytes:
    return sys.stdin.buffer.read(read.MOST_BYTES + 1)


def _show(found: Workflow) -> None:
    from holdfast.cli.planning.plan_table import show  # rich: not for those who ask for --json

    show(found)


def _now_ms() -> int:
    return int(time.time() * 1000)

"""`holdfast plan`: a list of tasks as batches that fit the room left."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from holdfast.cli import choose
from holdfast.cli.choose import NoSession
from holdfast.cli.replay import write_drawing
from holdfast.cli.token_count import TokenCount
from holdfast.client.install.scopes import claude_folder
from holdfast.plan import draw, past, read, room, session_room
from holdfast.plan.make import make
from holdfast.plan.room import Room
from holdfast.plan.workflow import Batch, Workflow, as_json
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.wire.inert import inert

MOST_SHOWN = 200  # batches; the rest is a number


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
    """A list of tasks as batches that fit the room left."""
    root = (project or Path.cwd()).resolve()
    given = read.load(file, root)
    settings = settings_load.load(str(root))
    known = past.learn(root, claude_folder(Path.home()) / "projects")
    found = make(given, room_for(settings, project and root, told, window), known, root)
    if svg is not None:
        write_drawing(draw.svg(found), svg)
    if as_plain:
        click.echo(json.dumps(as_json(found), indent=2))
    elif mermaid:
        click.echo(draw.mermaid(found), nl=False)
    else:
        show(found)
    for words in found.warnings if not as_plain else ():
        click.echo(f"  note: {inert(words)}", err=True)


def room_for(
    settings: Settings, project: Path | None, told: int | None, window: int | None
) -> Room:
    """As it was said on the command line, else by the session at work, else a fresh window."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    if told is not None:
        return room.stated(told, specs)
    if window is not None:
        return room.fresh(window, share, specs, f"a fresh window of {window:,} tokens, as told")
    try:
        chosen = choose.of_folder(project) if project else choose.of_this_folder()
    except NoSession:
        return session_room.unknown(settings)
    return session_room.of_window(chosen.state, chosen.folder, settings, int(time.time() * 1000))


def show(found: Workflow) -> None:
    """One table for a person."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    head = inert(found.title) or "plan"
    count = f"{len(found.batches)} batch{'' if len(found.batches) == 1 else 'es'}"
    console.print(Text(head, style="bold"), Text(f" {count}, about {found.tokens:,} tokens"))
    room = found.room
    now = f"{room.now_tokens:,} tokens now, {room.fresh_tokens:,} in a fresh window"
    console.print(Text(f"  room: {now} ({room.basis})", style="dim"))
    if not found.batches:
        console.print(f"  nothing left to do: all {len(found.done):,} tasks are done")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "task", "tokens", "80 % range", "room, known by"):
        table.add_column(name, justify="right" if name in ("tokens", "80 % range") else "left")
    for at, batch in enumerate(found.batches[:MOST_SHOWN]):
        _rows(table, at, batch)
    console.print(table)
    if len(found.batches) > MOST_SHOWN:
        console.print(f"  and {len(found.batches) - MOST_SHOWN:,} more batches: --json has all")
    if found.done:
        console.print(Text(f"  done already: {len(found.done):,}", style="dim"))


def _rows(table: object, at: int, batch: Batch) -> None:
    from rich.table import Table
    from rich.text import Text

    assert isinstance(table, Table)
    if at:
        table.add_row("", Text("checkpoint", style="cyan"), "", "", "")
    where = "a fresh window" if batch.fresh else "this session"
    side = ", side by side" if batch.parallel else ""
    used = f"{batch.tokens / max(1, batch.room_tokens):.0%} of the room, {batch.room_tokens:,}"
    table.add_row(
        Text(str(at + 1), style="bold"),
        Text(f"batch in {where}{side}", style="bold"),
        Text(f"{batch.tokens:,}", style="bold red" if batch.tokens > batch.room_tokens else "bold"),
        Text(_span(batch.low_tokens, batch.high_tokens), style=_style(batch)),
        Text(used, style="dim"),
    )
    for piece in batch.pieces:
        size = piece.estimate
        span = _span(size.low_tokens, size.high_tokens)
        title, basis = Text(inert(piece.task.shown, 100)), Text(inert(size.basis), style="dim")
        table.add_row("", title, f"{size.tokens:,}", Text(span, style="dim"), basis)


def _style(batch: Batch) -> str:
    return "yellow" if batch.high_tokens > batch.room_tokens else "green"


def _span(low: int, high: int) -> str:
    return f"{low:,} to {high:,}" if low != high else ""

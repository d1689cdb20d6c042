"""`holdfast lost --history`: what the summaries of the last compactions leave out."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict

import click

from holdfast.cli.terminal import paint, say, unfiltered
from holdfast.events import history
from holdfast.events.history import Figures, SessionCompaction
from holdfast.text.numbers import short
from holdfast.wire.log import inert


def show(*, as_json: bool) -> None:
    """Read what is new in every transcript, with progress, then print the last compactions."""
    found = history.last_compactions(_update())
    if as_json:
        rows = [
            {"session_id": of.session_id, "title": of.title, **asdict(one)} for of, one in found
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    if not found:
        say("No session on this machine has been compacted, as far as Claude Code still has it.")
        return
    say(paint(history.in_words(found), "bold"))
    say(f"{'session':<8}  {'day':<10}  no  not in it  asked first", err=True)
    width = shutil.get_terminal_size((120, 24)).columns
    for of, one in found:
        say(short(_line(SessionCompaction(of, one)), width))
    say("what one of them left out: holdfast lost ID", err=True)


def _line(found: SessionCompaction) -> str:
    of, one = found
    count = f"{one.not_found} of {one.items}"
    day = inert(one.at[:10])
    return f"{inert(of.session_id[:8])}  {day:<10}  {one.number:>2}  {count:<9}  {inert(of.title)}"


def _update() -> Figures:
    if not sys.stderr.isatty():
        return history.update()
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=unfiltered(sys.stderr)), transient=True) as bar:
        task = bar.add_task("reading past sessions")

        def tell(figures: Figures) -> None:
            done, of = history.progress(figures)
            bar.update(task, completed=done, total=of)

        return history.update(tell)

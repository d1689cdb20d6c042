"""A run, as it goes on: a bar on a terminal, plain lines anywhere else; always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from holdfast.conductor.events import Event, Tell
from holdfast.plan.said import counted, short
from holdfast.wire.inert import inert

if TYPE_CHECKING:
    from rich.progress import Progress

SESSION_CHARS = 8
MOST_NAME = 24
ECHO_CHARS = 2  # a terminal shows ^C where the bars end: on the next line, they would not be found


@contextmanager
def shown(quiet: bool) -> Iterator[Tell]:
    """`quiet`: notes alone."""
    if sys.stderr.isatty() and not quiet:
        with _bar() as tell:
            yield _while_it_can(tell)
    else:
        yield _while_it_can(_notes if quiet else _lines)


def _while_it_can(tell: Tell) -> Tell:
    """A run is worth more than the words on it: when they cannot be written any more (a pipe or a
    terminal that was closed, a full disk), it goes on without."""
    lost = False

    def safely(event: Event) -> None:
        nonlocal lost
        if not lost:
            try:
                tell(event)
            except OSError:
                lost = True

    return safely


def _lines(event: Event) -> None:
    """Readings come with every answer: on paper they would be most of it."""
    if event.kind != "reading" and event.words:
        click.echo(_words(event), err=True)


def _notes(event: Event) -> None:
    if event.kind == "note":
        click.echo(_words(event), err=True)


def _words(event: Event) -> str:
    words = inert(event.words, 2000)
    if event.kind == "batch":
        return words
    session = f"{event.session_id[:SESSION_CHARS]} " if event.session_id else ""
    return f"  {'note: ' if event.kind == 'note' else ''}{session}{words}"


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.constrain import Constrain
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False, markup=False)

    class Bars(Progress):
        def get_renderables(self) -> Iterator[Constrain]:
            wide = max(1, console.width - ECHO_CHARS)
            yield Constrain(self.make_tasks_table(self.tasks), wide)

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    bars: dict[str, TaskID] = {}
    progress = Bars(*columns, TimeElapsedColumn(), console=console, transient=True)
    with _started(progress):

        def tell(event: Event) -> None:
            if event.kind == "batch":
                if "" not in bars:
                    bars[""] = progress.add_task("plan", total=event.count, words="")
                at = f"{event.number - 1} of {counted(event.count, 'batch')}"
                progress.update(bars[""], completed=event.number - 1, words=at)
            if event.kind == "begun":
                name = f"{event.session_id[:SESSION_CHARS]} {short(event.titles, MOST_NAME)}"
                bars[event.session_id] = progress.add_task(name, total=None, words="no answer yet")
            if event.kind == "reading":
                total = max(event.planned_tokens, event.used_tokens)
                progress.update(
                    bars[event.session_id],
                    completed=event.used_tokens,
                    total=total,
                    words=event.words,
                    refresh=True,  # a short session is over before the next turn of the bar
                )
                return
            if event.kind == "session" and event.session_id in bars:
                progress.remove_task(bars.pop(event.session_id))
            if event.words:
                console.print(_words(event))

        yield tell


@contextmanager
def _started(progress: Progress) -> Iterator[None]:
    """It ends quietly where its terminal is gone."""
    progress.start()
    try:
        yield
    finally:
        with suppress(OSError):
            progress.stop()

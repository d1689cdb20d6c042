"""A run, as it goes on: a bar on a terminal, plain lines anywhere else; always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.cli.terminal import say
from holdfast.run.run_context import RunEvent, Tell
from holdfast.wire.log import inert

SESSION_CHARS = 8


@contextmanager
def shown(quiet: bool) -> Iterator[Tell]:
    """`quiet`: notes alone."""
    if sys.stderr.isatty() and not quiet:
        from holdfast.cli.planning.run_bars import bars  # rich: not for those who hear plain lines

        with bars() as tell:
            yield _while_it_can(tell)
    else:
        yield _while_it_can(_notes if quiet else _lines)


def _while_it_can(tell: Tell) -> Tell:
    """A run is worth more than the words on it: when they cannot be written any more (a pipe or a
    terminal that was closed, a full disk), it goes on without."""
    lost = False

    def safely(event: RunEvent) -> None:
        nonlocal lost
        if not lost:
            try:
                tell(event)
            except OSError:
                lost = True

    return safely


def _lines(event: RunEvent) -> None:
    """Readings come with every answer: on paper they would be most of it."""
    if event.kind != "reading" and event.words:
        say(line(event), err=True)


def _notes(event: RunEvent) -> None:
    if event.kind == "note":
        say(line(event), err=True)


def line(event: RunEvent) -> str:
    words = inert(event.words, 2000)
    if event.kind == "batch":
        return words
    session = f"{event.session_id[:SESSION_CHARS]} " if event.session_id else ""
    return f"  {'note: ' if event.kind == 'note' else ''}{session}{words}"

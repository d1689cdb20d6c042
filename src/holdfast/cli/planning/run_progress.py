"""The progress of a run: a bar on a terminal, plain lines elsewhere; always on stderr."""

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
    """Show progress; only notes if `quiet`."""
    if sys.stderr.isatty() and not quiet:
        from holdfast.cli.planning.run_bars import bars  # late: plain lines do not need rich

        with bars() as tell:
            yield _while_it_can(tell)
    else:
        yield _while_it_can(_notes if quiet else _lines)


def _while_it_can(tell: Tell) -> Tell:
    """Keep the run going without progress if it cannot be written any more (a closed pipe or
    terminal, a full disk)."""
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
    """Print events as lines, without readings: there is one with every answer."""
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

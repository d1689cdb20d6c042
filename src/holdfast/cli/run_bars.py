"""A run on a terminal: a bar for the plan, and one for each session while it works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.constrain import Constrain
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from holdfast.cli.run_report import SESSION_CHARS, progress_line
from holdfast.cli.terminal import unfiltered
from holdfast.run.session import RunEvent, Tell
from holdfast.text.numbers import counted, short
from holdfast.wire.log import inert

MOST_NAME = 24
ECHO_CHARS = 2  # room for the ^C that a terminal echoes: a wrapped line would break redrawing
PLAN = ""  # the plan's bar, among those of sessions


@contextmanager
def bars() -> Iterator[Tell]:
    """Show bars while a run lasts. They end without an error if the terminal is gone."""
    shown = _Bars()
    shown.progress.start()
    try:
        yield shown.tell
    finally:
        with suppress(OSError):
            shown.progress.stop()


class _Narrow(Progress):
    """Bars that are a little narrower than the terminal."""

    def __init__(self, console: Console, *columns: ProgressColumn) -> None:
        self._terminal = console  # its width is needed before the constructor ends
        super().__init__(*columns, console=console, transient=True)

    def get_renderables(self) -> Iterator[Constrain]:
        wide = max(1, self._terminal.width - ECHO_CHARS)
        yield Constrain(self.make_tasks_table(self.tasks), wide)


class _Bars:
    def __init__(self) -> None:
        self._console = Console(file=unfiltered(sys.stderr), highlight=False, markup=False)
        self.progress = _Narrow(
            self._console,
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
        )
        self._bars: dict[str, TaskID] = {}  # by session

    def tell(self, event: RunEvent) -> None:
        if event.kind == "reading":
            return self._reading(event)
        if event.kind == "batch":
            self._batch(event)
        if event.kind == "begun":
            self._begun(event)
        if event.kind == "session" and event.session_id in self._bars:
            self.progress.remove_task(self._bars.pop(event.session_id))
        if event.words:
            self._console.print(progress_line(event))

    def _batch(self, event: RunEvent) -> None:
        done = event.number - 1
        at = f"{done} of {counted(event.count, 'batch')}"
        bar = self._bar(PLAN, "plan", total=event.count)
        self.progress.update(bar, completed=done, words=at)

    def _begun(self, event: RunEvent) -> None:
        name = inert(f"{event.session_id[:SESSION_CHARS]} {short(event.titles, MOST_NAME)}")
        self.progress.update(self._bar(event.session_id, name), words="no answer yet")

    def _reading(self, event: RunEvent) -> None:
        self.progress.update(
            self._bars[event.session_id],
            completed=event.used_tokens,
            total=max(event.planned_tokens, event.used_tokens),
            words=inert(event.words),
            refresh=True,  # a short session ends before the next refresh
        )

    def _bar(self, key: str, name: str, total: int | None = None) -> TaskID:
        if key not in self._bars:
            self._bars[key] = self.progress.add_task(name, total=total, words="")
        return self._bars[key]

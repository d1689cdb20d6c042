"""What a run came to, however it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from holdfast.cli.terminal import say
from holdfast.run.run_context import RunReport
from holdfast.text.numbers import counted, nothing_left
from holdfast.wire.errors import HoldfastError


@contextmanager
def told_after(as_plain: bool) -> Iterator[list[RunReport]]:
    """Said once the bar is gone."""
    reports: list[RunReport] = []
    try:
        yield reports
    except HoldfastError:
        with suppress(OSError):  # who cannot hear of it hears the exit code at least
            _tell_end(reports, as_plain)
        raise
    with suppress(BrokenPipeError):  # nobody wants to hear that it is done
        _tell_end(reports, as_plain)


def _tell_end(reports: list[RunReport], as_plain: bool) -> None:
    for report in reports:
        if as_plain:
            click.echo(json.dumps(report.as_json(), indent=2))
        else:
            _tell(report)


def _tell(report: RunReport) -> None:
    tasks, sessions = counted(report.tasks, "task"), counted(len(report.sessions), "session")
    if report.state == "nothing":
        say(nothing_left(report.done_before))
    elif report.state == "done":
        say(f"done: {tasks}, {sessions} of Claude in this run; nothing left")
    else:
        done = report.tasks - len(report.left)
        say(f"{report.state}: {done:,} of {tasks} done, {sessions} of Claude in this run")
    with suppress(OSError):
        say(f"journal: {report.folder}/journal.jsonl", err=True)

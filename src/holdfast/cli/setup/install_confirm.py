"""The questions of an install: whether to make the changes, each shown before or on request, and
whether to archive transcripts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from holdfast.archive import transcripts as archive
from holdfast.cli.saving.transcripts import SETTING, say_off, say_on, what_is_there
from holdfast.cli.terminal import paint, say
from holdfast.client.settings_files import read_cleanup_period
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.setup import preview
from holdfast.setup.changes import InstallChange


def is_terminal() -> bool:
    """Somebody who answers there, and would see some 240 lines run by."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def show(changes: Sequence[InstallChange]) -> None:
    for change in changes:
        for line in preview.unified(change).split("\n"):
            click.echo(_coloured(line))  # as it is: a line of a file is not wrapped


def _coloured(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return paint(line, "bold")
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return paint(line, colour) if colour else line


def show_counted(changes: Sequence[InstallChange], events: Sequence[str]) -> None:
    if events:
        say(f"  hooks at {', '.join(events)}")
    for change in changes:
        more, less = preview.counted(change)
        size = f"{paint(f'+{more:,}', 'green')} {paint(f'-{less:,}', 'red')}"
        say(f"  {change.path}: {size} lines")


def agreed(hidden: Sequence[InstallChange]) -> bool:
    """True for a yes; anything else says so and ends the command. `hidden`: not shown so far."""
    try:
        if _is_yes(hidden):
            return True
        say("Nothing was changed.", err=True)
    except click.Abort:  # the end of the input, or Ctrl-C
        hint = "" if sys.stdin.isatty() else " Say --yes to go on without a question."
        say(f"\nNothing was changed.{hint}", err=True)
    click.get_current_context().exit(1)


def _is_yes(hidden: Sequence[InstallChange]) -> bool:
    if not hidden:
        return click.confirm("Make these changes?", err=True)
    words = "Make these changes? (d shows every line) [y/N/d]"
    answer = click.prompt(words, default="n", show_default=False, err=True).strip().lower()
    if answer == "d":
        show(hidden)
        return _is_yes(())
    return answer in ("y", "yes")


def settle(wanted: bool | None, *, may_ask: bool) -> None:
    """An answer is noted, a no too: the next install does not ask again."""
    if wanted is None and may_ask and _is_open() and is_terminal():
        wanted = _asked()
    if wanted is None:
        return
    edit.write(SETTING, "on" if wanted else "off")
    if wanted:
        say_on()
    elif what_is_there():
        say_off()


def _is_open() -> bool:
    return settings_load.load().origins[SETTING] == "default"


def _asked() -> bool | None:
    """None where nobody answered."""
    megabytes = settings_load.load().whole("archive_transcripts_megabytes")
    say(f"{read_cleanup_period(str(Path.cwd())).words}.", err=True)
    question = (
        f"Save compressed copies without secrets in {archive.folder()}, up to {megabytes:,} MB?"
    )
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        say("\nNot archived; later: holdfast transcripts on", err=True)
        return None

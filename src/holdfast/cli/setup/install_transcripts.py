"""Whether transcripts are archived: said by an option, or asked once on a terminal; else off."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.archive import transcripts as archive
from holdfast.cli.saving.transcripts import SETTING, say_off, say_on, what_is_there
from holdfast.cli.setup import install_confirm
from holdfast.cli.terminal import say
from holdfast.client.settings_files import read_cleanup_period
from holdfast.settings import edit
from holdfast.settings import load as settings_load


def settle(wanted: bool | None, *, may_ask: bool) -> None:
    """An answer is noted, a no too: the next install does not ask again."""
    if wanted is None and may_ask and _is_open() and install_confirm.is_terminal():
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

"""`holdfast transcripts`: copies that outlive the client's own; on, off, listed, removed."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holdfast.archive import save_transcripts
from holdfast.archive import transcripts as archive
from holdfast.archive.errors import NoArchivedTranscript
from holdfast.archive.transcripts import ArchivedSession
from holdfast.cli.options import AS_JSON, EVERYWHERE, PROJECT, list_group, must_be_folder
from holdfast.cli.terminal import confirm, say
from holdfast.client.memory_folder import slug
from holdfast.events import archive_transcripts
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.wire.errors import HoldfastError

SETTING = "archive_transcripts"
NOTHING = "Nothing is archived."
HOW_TO_REMOVE = "holdfast transcripts remove --all"
ASKED_CHARS = 100
HEADING = f"{'session':<8}  {'changed':<10}  {'size':>8}  {'where':<15}  asked first"


class ArchivingIsOff(HoldfastError):
    hint = "turn it on first: holdfast transcripts on"


def _list(project: Path | None, everywhere: bool, as_json: bool) -> None:
    where = (project or Path.cwd()).resolve()
    found = archive.sessions("" if everywhere else slug(str(where)))
    state = archive_transcripts.state(str(where))
    if as_json:
        click.echo(json.dumps({**state, "sessions": [row(one) for one in found]}, indent=2))
        return
    if found:
        say(HEADING, err=True)
    for one in found:
        say(line(one))
    if not found:
        must_be_folder(None if everywhere else project, "`holdfast transcripts --all` lists all")
        say("No transcript is archived" + ("." if everywhere else f" of {where}."), err=True)
    for words in in_words(state):
        say(words, err=True)


transcripts = list_group(
    "transcripts",
    _list,
    PROJECT,
    EVERYWHERE,
    AS_JSON,
    words="List archived transcripts, newest first; `on`, `off`, `save` and `remove` them.",
    list_words="List archived transcripts, as `holdfast transcripts` alone does.",
)


@transcripts.command()
def on() -> None:
    """Archive transcripts from now on."""
    say(f"wrote {edit.write(SETTING, 'on')}: {SETTING} = on")
    say_on()


def say_on() -> None:
    megabytes = settings_load.load().whole("archive_transcripts_megabytes")
    say(
        f"Transcripts are archived in {archive.folder()} when a session ends, compressed and "
        f"without secrets, up to {megabytes:,} MB. Those there are now: holdfast transcripts save"
    )


@transcripts.command()
def off() -> None:
    """Stop archiving. What is archived stays until you remove it."""
    say(f"wrote {edit.write(SETTING, 'off')}: {SETTING} = off")
    say_off()


def say_off() -> None:
    left = what_is_there()
    say(f"What is archived stays: {left}. Remove it: {HOW_TO_REMOVE}" if left else NOTHING)


@transcripts.command()
def save() -> None:
    """Archive the transcripts that Claude Code has now."""
    settings = settings_load.load()
    if not archive_transcripts.is_on(settings):
        raise ArchivingIsOff("nothing was archived, because archiving is off")
    done = archive_transcripts.save_now(settings)
    for error in done.errors:
        say(f"not archived: {shown(error)}", err=True)
    say(f"{done.written} written; archived: {what_is_there() or 'nothing'}")


@transcripts.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--all", "everything", is_flag=True, help="Every archived transcript.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(sessions: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Remove archived sessions for good, by id or its first characters. Claude Code's own
    transcripts stay."""
    found = archive.sessions() if everything else [archive.find_session(one) for one in sessions]
    if not found:
        raise NoArchivedTranscript("there is nothing to remove: name sessions, or --all")
    for one in found:
        say(line(one), err=True)
    if not yes and not confirm(f"Remove {_counted(found)} for good?"):
        say("Nothing was removed.", err=True)
        sys.exit(1)
    with save_transcripts.hold_archive():
        for one in found:
            archive.remove(one)
        archive.forget_removed()
    say(f"{_counted(found)} removed")


def in_words(state: dict[str, Any]) -> list[str]:
    """Describe how long the client keeps transcripts, and how long we do."""
    size = _megabytes(state["archived_bytes"])
    has = f"{_plural(state['archived_sessions'])}, {size}" if state["archived_sessions"] else ""
    if state["archived"]:
        most = _megabytes(state["most_bytes"])
        ours = f"Holdfast archives them in {archive.folder()} ({has or 'none yet'} of {most})"
    elif has:
        ours = f"Holdfast archives no more of them; left: {has} ({HOW_TO_REMOVE})"
    else:
        ours = "Holdfast does not archive them (holdfast transcripts on)"
    return [state["words"], ours]


def what_is_there() -> str:
    """Return the archived sessions and their size; empty if there are none."""
    found = archive.sessions()
    return f"{_counted(found)} in {archive.folder()}" if found else ""


def line(one: ArchivedSession) -> str:
    about = one.about
    gone = "archive only" if archive.is_gone(one) else "Claude Code too"
    asked = fence.clean(about.asked)[:ASKED_CHARS] if about else ""
    day = datetime.fromtimestamp(one.changed, UTC).strftime("%Y-%m-%d")
    return f"{one.id[:8]}  {day}  {_megabytes(one.bytes):>8}  {gone:<15}  {shown(asked)}"


def row(one: ArchivedSession) -> dict[str, Any]:
    about = one.about
    return {
        "session_id": one.id,
        "project": about.project if about else "",
        "asked": about.asked if about else "",
        "path": one.path,
        "bytes": one.bytes,
        "subagents": len(one.files) - 1,
        "days": round((time.time() - one.changed) / 86_400, 1),
        "client_has_it": not archive.is_gone(one),
    }


def _counted(found: list[ArchivedSession]) -> str:
    return f"{_plural(len(found))} ({_megabytes(sum(one.bytes for one in found))})"


def _plural(count: int) -> str:
    return counted(count, "session")


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MB"

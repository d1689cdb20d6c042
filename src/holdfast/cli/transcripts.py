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
from holdfast.archive.transcripts import ArchivedSession, NoArchivedTranscript
from holdfast.cli.options import AS_JSON, EVERYWHERE
from holdfast.cli.terminal import confirm, say
from holdfast.client.memory_folder import slug
from holdfast.events import background
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import counted

SETTING = "archive_transcripts"
TURN_ON = f"holdfast settings set {SETTING} on"
HOW_TO_REMOVE = "holdfast transcripts remove --all"
ASKED_CHARS = 100
HEADING = f"{'session':<8}  {'changed':<10}  {'size':>8}  {'where':<15}  asked first"


@click.group(invoke_without_command=True)
@EVERYWHERE
@AS_JSON
@click.pass_context
def transcripts(context: click.Context, everywhere: bool, as_json: bool) -> None:
    """List and remove the copies of transcripts that Holdfast keeps.

    Claude Code deletes its own transcripts after some weeks. Copies are compressed and without
    secrets, and are made when a session ends. This is off until you turn it on.

    \b
    Examples:
      holdfast settings set archive_transcripts on   from now on
      holdfast transcripts                           of this project
    """
    if context.invoked_subcommand is not None:
        return
    where = str(Path.cwd())
    listed = archive.sessions("" if everywhere else slug(where))
    state = background.transcripts_state(where)
    if as_json:
        rows = [_row(session) for session in listed]
        click.echo(json.dumps({**state, "sessions": rows}, indent=2))
        return
    if listed:
        say(HEADING, err=True)
    for session in listed:
        say(_line(session))
    if not listed:
        say("No transcript is archived" + ("." if everywhere else f" of {where}."), err=True)
    for words in in_words(state):
        say(words, err=True)


@transcripts.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--all", "everything", is_flag=True, help="Every archived transcript.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(sessions: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Remove archived sessions for good, by id or its first characters. Claude Code's own
    transcripts stay."""
    chosen = archive.sessions() if everything else list(map(archive.find_session, sessions))
    if not chosen:
        raise NoArchivedTranscript("there is nothing to remove: name sessions, or --all")
    for session in chosen:
        say(_line(session), err=True)
    if not yes and not confirm(f"Remove {_counted(chosen)} for good?"):
        say("Nothing was removed.", err=True)
        sys.exit(1)
    with save_transcripts.hold_archive():
        for session in chosen:
            archive.remove(session)
        archive.forget_removed()
    say(f"{_counted(chosen)} removed")


def in_words(state: dict[str, Any]) -> list[str]:
    """Describe how long the client keeps transcripts, and how long we do."""
    size = _megabytes(state["archived_bytes"])
    has = (
        f"{counted(state['archived_sessions'], 'session')}, {size}"
        if state["archived_sessions"]
        else ""
    )
    if state["archived"]:
        most = _megabytes(state["most_bytes"])
        ours = f"Holdfast archives them in {archive.folder()} ({has or 'none yet'} of {most})"
    elif has:
        ours = f"Holdfast archives no more of them; left: {has} ({HOW_TO_REMOVE})"
    else:
        ours = f"Holdfast does not archive them ({TURN_ON})"
    return [state["words"], ours]


def what_is_there() -> str:
    """Return the archived sessions and their size; empty if there are none."""
    listed = archive.sessions()
    return f"{_counted(listed)} in {archive.folder()}" if listed else ""


def _line(session: ArchivedSession) -> str:
    about = session.about
    gone = "archive only" if archive.is_gone(session) else "Claude Code too"
    asked = fence.clean(about.asked)[:ASKED_CHARS] if about else ""
    day = datetime.fromtimestamp(session.changed, UTC).strftime("%Y-%m-%d")
    size = _megabytes(session.bytes)
    return f"{session.id[:8]}  {day}  {size:>8}  {gone:<15}  {shown(asked)}"


def _row(session: ArchivedSession) -> dict[str, Any]:
    about = session.about
    return {
        "session_id": session.id,
        "project": about.project if about else "",
        "asked": about.asked if about else "",
        "path": session.path,
        "bytes": session.bytes,
        "subagents": len(session.files) - 1,
        "days": round((time.time() - session.changed) / 86_400, 1),
        "client_has_it": not archive.is_gone(session),
    }


def _counted(listed: list[ArchivedSession]) -> str:
    size = _megabytes(sum(session.bytes for session in listed))
    return f"{counted(len(listed), 'session')} ({size})"


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MB"

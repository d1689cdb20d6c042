"""`holdfast transcripts`: copies that outlive the client's own; on, off, listed, removed."""

import time
from pathlib import Path
from typing import Any

import click

from holdfast.archive import save_transcripts
from holdfast.archive import transcripts as archive
from holdfast.archive.transcripts import ArchivedSession, NoArchivedTranscript
from holdfast.cli.options import AS_JSON, EVERYWHERE, flag
from holdfast.cli.terminal import age, confirm, draw_table, print_json, say
from holdfast.client.memory_folder import slug
from holdfast.events import background
from holdfast.text import fence
from holdfast.text.numbers import counted

SETTING = "archive_transcripts"
TURN_ON = f"holdfast settings set {SETTING} on"


@click.group(invoke_without_command=True)
@EVERYWHERE
@AS_JSON
@click.pass_context
def transcripts(context: click.Context, everywhere: bool, as_json: bool) -> None:
    """List and remove the copies of transcripts that Holdfast saved.

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
        return print_json({**state, "sessions": [_row(session) for session in listed]})
    if listed:
        draw_archived(listed)
    else:
        say(f"No transcript{'' if everywhere else f' of {where}'} is archived.", err=True)
    for words in in_words(state):
        say(words, err=True)


@transcripts.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@flag("--all", "everything", help="Every archived transcript.")
@flag("--yes", help="Do not ask.")
def remove(sessions: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Remove archived sessions for good, by id or its first characters. Claude Code's own
    transcripts stay."""
    chosen = archive.sessions() if everything else list(map(archive.find_session, sessions))
    if not chosen:
        raise NoArchivedTranscript("there is nothing to remove: name sessions, or --all")
    draw_archived(chosen)
    if not yes:
        confirm(f"Remove {_counted(chosen)} for good?")
    with save_transcripts.hold_archive():
        for session in chosen:
            archive.remove(session)
        archive.forget_removed()
    say(f"{_counted(chosen)} removed")


def in_words(state: dict[str, Any]) -> list[str]:
    has = f"{counted(state['archived_sessions'], 'session')}, {_megabytes(state['archived_bytes'])}"
    if state["archived"]:
        most = _megabytes(state["most_bytes"])
        ours = f"Holdfast saves copies in {archive.folder()} ({has} of {most})"
    elif state["archived_sessions"]:
        ours = f"Holdfast saves no more copies; left: {has} (holdfast transcripts remove --all)"
    else:
        ours = f"Holdfast saves no copies of them; this turns it on: {TURN_ON}"
    return [state["words"], ours]


def draw_archived(listed: list[ArchivedSession]) -> None:
    rows = (
        (
            session.id[:8],
            age(time.time() - session.changed),
            _megabytes(session.bytes),
            "archive only" if archive.is_gone(session) else "Claude Code too",
            fence.clean(session.about.asked if session.about else ""),
        )
        for session in listed
    )
    draw_table(("archived", "age", "size", "where", "asked first"), rows)


def _row(session: ArchivedSession) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "project": session.about.project if session.about else "",
        "asked": session.about.asked if session.about else "",
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

"""`holdfast resume`: list checkpoints, show one, or print it to hand to the model."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from holdfast.archive import transcripts as archive
from holdfast.archive.transcripts import ArchivedSession
from holdfast.brief import checkpoint_brief
from holdfast.brief.checkpoint_brief import Changed
from holdfast.brief.compose import NOTICE
from holdfast.checkpoint import checkpoint_file, find, index, snapshot
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.find import NoCheckpoint
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON, flag
from holdfast.cli.terminal import age, draw_table, print_json, say
from holdfast.cli.transcripts import draw_archived
from holdfast.client.memory_folder import slug
from holdfast.redact.find import redact
from holdfast.session import window_brief
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.transcript import PACKED
from holdfast.wire.errors import HoldfastError


@click.command()
@click.argument("which", type=click.Path(), required=False)
@flag("--load", "as_text", help="Print it for the model, to start a new session with.")
@flag("--anyway", help="With --load: even if it is NOT VERIFIED.")
@flag("--all", "everywhere", help="List the checkpoints of every project.")
@AS_JSON
def resume(which: str | None, as_text: bool, anyway: bool, everywhere: bool, as_json: bool) -> None:
    """List checkpoints, or show one to continue from.

    WHICH is the id of a checkpoint, its file, `latest` or `previous`. It can also be a session (its
    id, the first characters, or its transcript); then its newest checkpoint is shown. In Claude
    Code, /holdfast:resume hands a checkpoint to the model.

    \b
    Examples:
      holdfast resume                            the checkpoints of this folder
      claude "$(holdfast resume latest --load)"  continue in a new session
    """
    project = str(Path.cwd())
    known = index.load_or_empty()
    if not (which or as_text):
        return _list(project, known, everywhere, as_json)
    meant = _meant(which or find.LATEST, project)
    if isinstance(meant, ArchivedSession):
        return _show_archived(meant, as_text, as_json)
    entry = checks.verify_entry(meant, known)
    if warning := checkpoint_brief.not_own(entry):
        say(warning, err=True)
    if not entry.verified:  # it is shown, but not given to the model unless the user insists
        if as_text and not anyway:
            raise Changed(checkpoint_brief.changed(entry))
        say(checkpoint_brief.changed(entry), err=True)
    _show(entry, as_text, as_json)


def _list(project: str, known: list[CheckpointEntry], everywhere: bool, as_json: bool) -> None:
    listed = find.sort_entries(known if everywhere else index.of_project(project, foreign=True))
    entries = [checks.verify_entry(entry, known) for entry in listed]
    if as_json:
        return print_json([_row(entry) for entry in entries])
    if entries:
        _print_table(entries, everywhere)
        there = {entry.trigger for entry in entries}
        meant = (f"{name}: {words}" for name, words in TRIGGERS.items() if name in there)
        say(f"triggers: {'; '.join(meant)}", err=True)
    if not _list_gone(project, everywhere) and not entries:
        whose = "any project" if everywhere else project
        how = "Save one now: holdfast checkpoint. Other projects: holdfast resume --all"
        say(f"No checkpoint of {whose} yet. Hooks save one when the window fills.\n{how}", err=True)


def _meant(word: str, project: str) -> CheckpointEntry | ArchivedSession:
    """Return the checkpoint; for a session, its newest one; for an archived session without one,
    the session."""
    if word.endswith((".jsonl", *PACKED)):
        word = sessions.of_file(Path(word)).state.session_id
    try:
        return find.find_by_name(word, project)
    except NoCheckpoint:
        if meant := find.newest_of_session(word) or sessions.find_archived(word):
            return meant
    try:
        sessions.choose(word, quiet=True)
    except HoldfastError:
        raise NoCheckpoint(f"no checkpoint and no session is called {shown(word)}") from None
    hint = f"`holdfast checkpoint {shown(word)}` saves one"
    raise NoCheckpoint(f"session {shown(word)} has no checkpoint", hint)


def _show(entry: CheckpointEntry, as_text: bool, as_json: bool) -> None:
    if as_json:
        document = checkpoint_file.read(entry.path).document
        more = {"sections": document.sections, "snapshot": snapshot.load(entry.project, entry.id)}
        return print_json({**_row(entry), **more})
    body = checkpoint_brief.sections(entry, anyway=True)
    if as_text:
        holds = entry.verified and index.is_own(entry)
        notice = NOTICE if holds else fence.REFERENCE
        click.echo(fence.opening(checkpoint_brief.origin(entry), notice))
        click.echo(fence.clean(redact(body)), nl=False)
        click.echo(fence.closing())
        return
    line = find.trace(entry, index.of_project(entry.project))
    rows = {
        "checkpoint": entry.id,
        "file": entry.path,
        "project": entry.project,
        "session": f"{entry.session_id} {entry.agent_id}",
        "made": f"{entry.created}, {entry.trigger}, number {entry.iteration} of its session",
        "parents": " ← ".join(parent.id for parent in line[1:6]) or "none",
    }
    for label, text in rows.items():
        say(f"{label:<11} {shown(text)}", hang=12)
    say(body.removesuffix("\n"))


def _row(entry: CheckpointEntry) -> dict[str, object]:
    values: dict[str, object] = json.loads(entry.line())
    return {**values, "made_here": index.is_own(entry)}


TRIGGERS = {
    "auto": "before a compaction",
    "manual": "on request",
    "guard": "at an alert",
    "monitor": "while at work",
    "watcher": "by the watcher",
    "batch": "after a batch of `holdfast run`",
    "session-end": "at the end of the session",
}


def _print_table(entries: list[CheckpointEntry], with_project: bool) -> None:
    """Print a line for each checkpoint. Those that were not made here are marked."""
    own = {entry.path for entry in index.own_entries(entries)}
    foreign = "UNKNOWN " if index.own_hashes() is None else "FOREIGN "
    rows = []
    for entry in entries:
        made = checkpoint_file.from_iso(entry.created)
        marks = "" if entry.verified else "NOT VERIFIED "
        marks += "" if entry.path in own else foreign
        row = (
            entry.id,
            age((datetime.now(UTC) - made).total_seconds()),
            entry.trigger,
            f"#{entry.iteration}",
            entry.session_id[:8] + (f"/{entry.agent_id[:8]}" if entry.agent_id else ""),
            *([Path(entry.project).name] if with_project else []),
            marks + shown(entry.summary),
        )
        rows.append(row)
    project = ["project"] if with_project else []
    draw_table(("checkpoint", "age", "trigger", "nr", "session", *project, "asked last"), rows)


def _list_gone(project: str, everywhere: bool) -> bool:
    """Print the sessions that only the archive has; return False if there are none."""
    listed = archive.sessions("" if everywhere else slug(project))
    gone = [session for session in listed if archive.is_gone(session)]
    if gone:
        words = "Claude Code has deleted their transcripts, so `claude --resume` cannot open them"
        say(f"archived: {words}; `holdfast resume ID` prints a brief for a new one", err=True)
        draw_archived(gone)
    return bool(gone)


def _show_archived(session: ArchivedSession, as_text: bool, as_json: bool) -> None:
    """Print the brief of an archived session; with `as_text`, nothing else."""
    brief, is_gone = window_brief.brief_of(session), archive.is_gone(session)
    sessions.say_damaged(session.path)
    if as_json:
        about = {"session_id": session.id, "path": session.path, "client_has_it": not is_gone}
        return print_json({**about, "brief": brief.text})
    say(brief.text)
    how = f"Claude Code still has it: claude --resume {shown(session.id)}"
    if is_gone:
        new = f'claude "$(holdfast resume {shown(session.id[:8])} --load)"'
        how = f"{sessions.NOT_RESUMABLE}. A new session with this brief: {new}"
    if not as_text:
        say(how, err=True)

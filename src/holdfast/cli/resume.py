"""`holdfast resume`: list checkpoints, show one, or print it to hand to the model."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Container
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
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.find import NoCheckpoint
from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import age, say
from holdfast.client.memory_folder import slug
from holdfast.events import window_brief
from holdfast.redact import redact
from holdfast.text import fence, timestamps
from holdfast.text.fence import shown
from holdfast.text.numbers import short
from holdfast.transcript import PACKED
from holdfast.wire.errors import HoldfastError


@click.command()
@click.argument("which", type=click.Path(), required=False)
@click.option(
    "--load",
    "as_text",
    is_flag=True,
    help="Print only its sections, marked as reference, for the model.",
)
@click.option("--anyway", is_flag=True, help="Load it although it is NOT VERIFIED.")
@click.option("--all", "everywhere", is_flag=True, help="List the checkpoints of every project.")
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
    _warn(entry, refuse=as_text and not anyway)
    _show(entry, as_text, as_json)


def _list(project: str, known: list[CheckpointEntry], everywhere: bool, as_json: bool) -> None:
    listed = find.sort_entries(known if everywhere else index.of_project(project, foreign=True))
    entries = [checks.verify_entry(entry, known) for entry in listed]
    if as_json:
        click.echo(json.dumps([_row(entry) for entry in entries]))
        return
    if entries:
        _print_table(entries, everywhere)
        say(describe_triggers([entry.trigger for entry in entries]), err=True)
    if not _list_gone(project, everywhere) and not entries:
        whose = "any project" if everywhere else project
        say(f"No checkpoint of {whose} yet. Hooks save one when the window fills.", err=True)
        if everywhere or _has_session():
            say("Save one now: holdfast checkpoint", err=True)
        else:
            say("This folder has no session; `holdfast resume --all` lists all projects.", err=True)


def _has_session() -> bool:
    try:
        return bool(sessions.choose_to_save(quiet=True))
    except HoldfastError:
        return False


def _meant(word: str, project: str) -> CheckpointEntry | ArchivedSession:
    """Return the checkpoint; for a session, its newest one; for an archived session without one,
    the session."""
    if word.endswith((".jsonl", *PACKED)):
        word = sessions.of_file(Path(word)).state.session_id
    try:
        return find.find_by_name(word, project)
    except NoCheckpoint:
        meant = find.newest_of_session(word) or sessions.find_archived(word)
        if meant is not None:
            return meant
        if _is_session(word):
            saves = f"`holdfast checkpoint {shown(word)}` saves one"
            hint = f"{saves}; `holdfast brief {shown(word)}` shows what would be restored"
            raise NoCheckpoint(f"session {shown(word)} has no checkpoint", hint) from None
        raise


def _is_session(word: str) -> bool:
    try:
        return bool(sessions.choose(word, quiet=True))
    except HoldfastError:
        return False


def _warn(entry: CheckpointEntry, *, refuse: bool) -> None:
    """Warn of a checkpoint that is not verified or not ours. It is shown all the same, but
    not given to the model unless the user insists."""
    if warning := checkpoint_brief.not_own(entry):
        say(warning, err=True)
    if entry.verified:
        return
    if refuse:
        raise Changed(checkpoint_brief.changed(entry))
    say(checkpoint_brief.changed(entry), err=True)


def _show(entry: CheckpointEntry, as_text: bool, as_json: bool) -> None:
    """Print one checkpoint, with its place among the others."""
    if as_json:
        document = checkpoint_file.read(entry.path).document
        more = {"sections": document.sections, "snapshot": snapshot.load(entry.project, entry.id)}
        click.echo(json.dumps({**_row(entry), **more}))
        return
    body = checkpoint_brief.sections(entry, anyway=True)
    if as_text:
        holds = entry.verified and index.is_own(entry)
        notice = NOTICE if holds else fence.REFERENCE
        click.echo(fence.opening(checkpoint_brief.origin(entry), notice))
        click.echo(fence.clean(redact(body)), nl=False)
        click.echo(fence.closing())
        return
    for label, text in _rows(entry):
        say(f"{label:<11} {shown(text)}", hang=12)
    say(body.removesuffix("\n"))


def _row(entry: CheckpointEntry) -> dict[str, object]:
    values: dict[str, object] = json.loads(entry.line())
    return {**values, "made_here": index.is_own(entry)}


def _rows(entry: CheckpointEntry) -> list[tuple[str, str]]:
    line = find.trace(entry, index.of_project(entry.project))
    since = " ← ".join(parent.id for parent in line[1:6]) or "none"
    return [
        ("checkpoint", entry.id),
        ("file", entry.path),
        ("project", entry.project),
        ("session", f"{entry.session_id} {entry.agent_id}"),
        ("made", f"{entry.created}, {_when(entry)}, number {entry.iteration} of its session"),
        ("parents", since),
    ]


def _when(entry: CheckpointEntry) -> str:
    words = TRIGGERS.get(entry.trigger)
    return f"{entry.trigger} ({words})" if words else entry.trigger


TRIGGERS = {
    "auto": "before a compaction",
    "manual": "on request",
    "guard": "at an alert",
    "monitor": "while at work",
    "watcher": "by the watcher",
    "batch": "after a batch of `holdfast run`",
    "session-end": "at the end of the session",
}


def describe_triggers(listed: Container[str]) -> str:
    """Return the meaning of the triggers that are listed."""
    meant = (f"{name}: {words}" for name, words in TRIGGERS.items() if name in listed)
    return f"triggers: {'; '.join(meant)}"


def _print_table(entries: list[CheckpointEntry], with_project: bool) -> None:
    """Print a line for each checkpoint. The session is named only if there are several, the project
    only on request. Those that were not made here are marked."""
    own = {entry.path for entry in index.own_entries(entries)}
    several = len({(entry.session_id, entry.agent_id) for entry in entries}) > 1
    projects = _project_names(entries)
    width = shutil.get_terminal_size((120, 24)).columns
    heads = ["checkpoint", "age", "trigger", "nr", *(["session"] if several else [])]
    rows = [[*heads, *(["project"] if with_project else []), "asked last"]]
    for entry in entries:
        agent = f"/{entry.agent_id[:8]}" if entry.agent_id else ""
        row = [entry.id, _age(entry), entry.trigger, f"#{entry.iteration}"]
        row += [shown(entry.session_id[:8] + agent)] if several else []
        row += [projects[entry.project]] if with_project else []
        rows.append([*row, _marks(entry, entry.path in own) + shown(entry.summary)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for number, row in enumerate(rows):
        cells = [f"{text:<{wide}}" for text, wide in zip(row, widths, strict=False)]
        say(short(" ".join([*cells, row[-1]]), width), err=number == 0)


def _project_names(entries: list[CheckpointEntry]) -> dict[str, str]:
    """Return the name of each project: its folder's name, or its path if two folders share the
    name."""
    folders = {entry.project: entry.project.rstrip("/").rpartition("/")[2] for entry in entries}
    names = list(folders.values())
    return {path: shown(name if names.count(name) == 1 else path) for path, name in folders.items()}


def _age(entry: CheckpointEntry) -> str:
    return age((datetime.now(UTC) - timestamps.from_iso(entry.created)).total_seconds())


def _marks(entry: CheckpointEntry, own: bool) -> str:
    unknown = "UNKNOWN " if index.own_hashes() is None else "FOREIGN "
    return ("" if entry.verified else "NOT VERIFIED ") + ("" if own else unknown)


def _list_gone(project: str, everywhere: bool) -> bool:
    """Print the sessions that only the archive has; return False if there are none."""
    listed = archive.sessions("" if everywhere else slug(project))
    gone = [session for session in listed if archive.is_gone(session)]
    if gone:
        words = "Claude Code has deleted their transcripts, so `claude --resume` cannot open them"
        say(f"archived: {words}; `holdfast resume ID` prints a brief for a new one", err=True)
    width = shutil.get_terminal_size((120, 24)).columns
    for session in gone:
        about = session.about
        asked = shown(fence.clean(about.asked)) if about else ""
        days = f"{(time.time() - session.changed) / 86_400:.0f} days"
        say(short(f"{shown(session.id[:8])} {days:>9} archived    {asked}", width))
    return bool(gone)


def _show_archived(session: ArchivedSession, as_text: bool, as_json: bool) -> None:
    """Print the brief of an archived session; with `as_text`, nothing else."""
    brief, is_gone = window_brief.brief_of(session), archive.is_gone(session)
    sessions.say_damaged(session.path)
    if as_json:
        about = {"session_id": session.id, "path": session.path, "client_has_it": not is_gone}
        click.echo(json.dumps({**about, "brief": brief.text}))
        return
    say(brief.text)
    if as_text:
        return
    if is_gone:
        new = f'claude "$(holdfast resume {shown(session.id[:8])} --load)"'
        say(f"{sessions.NOT_RESUMABLE}. A new session with this brief: {new}", err=True)
    else:
        say(f"Claude Code still has it: claude --resume {shown(session.id)}", err=True)

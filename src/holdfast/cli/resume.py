"""`holdfast resume`: list checkpoints, show one, or print it to hand to the model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Container
from datetime import UTC, datetime
from pathlib import Path

import click

from holdfast.archive.transcripts import ArchivedSession
from holdfast.brief import checkpoint_brief
from holdfast.checkpoint import checkpoint_file, find, index, lineage, provenance, snapshot
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import Changed, NoCheckpoint
from holdfast.cli import find_transcript
from holdfast.cli.options import AS_JSON, PROJECT, must_be_folder
from holdfast.cli.terminal import say
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
@PROJECT
@click.option("--all", "everywhere", is_flag=True, help="List the checkpoints of every project.")
@AS_JSON
def resume(
    which: str | None,
    as_text: bool,
    anyway: bool,
    project: Path | None,
    everywhere: bool,
    as_json: bool,
) -> None:
    """List checkpoints, newest first, or show WHICH: a checkpoint's id or file, `latest`,
    `previous`, or a session, whose newest checkpoint is shown."""
    where = str((project or Path.cwd()).absolute())
    known = index.load_or_empty()
    if which or as_text:
        meant = _meant(which or find.LATEST, where)
        if isinstance(meant, ArchivedSession):
            find_transcript.show(meant, as_text, as_json)
            return
        entry = checks.verify_entry(meant, known)
        _warn(entry, refuse=as_text and not anyway)
        show_checkpoint(entry, as_text, as_json)
        return
    listed = find.sort_entries(known if everywhere else index.of_project(where, foreign=True))
    found = [checks.verify_entry(entry, known) for entry in listed]
    if as_json:
        click.echo(json.dumps([row(entry) for entry in found]))
        return
    if found:
        say(heading(found, everywhere), err=True)
    own = {entry.path for entry in provenance.own_entries(found)}
    for line in lines(found, datetime.now(UTC), own, everywhere):
        say(line)
    if found:
        say(describe_triggers([entry.trigger for entry in found]), err=True)
    if not find_transcript.list_gone(where, everywhere) and not found:
        must_be_folder(
            None if everywhere else project, "`holdfast resume --all` lists all projects"
        )
        whose = "any project" if everywhere else where
        say(f"No checkpoint of {whose} yet. Hooks save one when the window fills.", err=True)
        if everywhere or _has_session():
            say("Save one now: holdfast checkpoint", err=True)
        else:
            say("This folder has no session; `holdfast resume --all` lists all projects.", err=True)


def _has_session() -> bool:
    try:
        return bool(find_transcript.choose_to_save(quiet=True))
    except HoldfastError:
        return False


class NoneOfSession(NoCheckpoint):
    def __init__(self, session: str) -> None:
        super().__init__(f"session {session} has no checkpoint")
        saves = f"`holdfast checkpoint {session}` saves one"
        self.hint = f"{saves}; `holdfast brief {session}` shows what would be restored"


def _meant(word: str, project: str) -> CheckpointEntry | ArchivedSession:
    """Return the checkpoint; for a session, its newest one; for an archived session without one,
    the session."""
    if word.endswith((".jsonl", *PACKED)):
        word = find_transcript.choose_to_read(Path(word)).state.session_id
    try:
        return find.find_by_name(word, project)
    except NoCheckpoint:
        found = find.newest_of_session(word) or find_transcript.find_archived(word)
        if found is not None:
            return found
        if _is_session(word):
            raise NoneOfSession(shown(word)) from None
        raise


def _is_session(word: str) -> bool:
    try:
        return bool(find_transcript.find(word))
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


def show_checkpoint(entry: CheckpointEntry, as_text: bool, as_json: bool) -> None:
    """Print one checkpoint, with its place among the others."""
    if as_json:
        document = checkpoint_file.read(entry.path).document
        more = {"sections": document.sections, "snapshot": snapshot.load(entry.project, entry.id)}
        click.echo(json.dumps({**row(entry), **more}))
        return
    body = checkpoint_brief.sections(entry, anyway=True)
    if as_text:
        click.echo(fence.opening(checkpoint_brief.origin(entry)))
        click.echo(fence.clean(redact(body)), nl=False)
        click.echo(fence.closing())
        return
    for label, text in _rows(entry):
        say(f"{label:<11} {shown(text)}", hang=12)
    say(body.removesuffix("\n"))


def row(entry: CheckpointEntry) -> dict[str, object]:
    found: dict[str, object] = json.loads(entry.line())
    return {**found, "made_here": provenance.is_own(entry)}


def _rows(entry: CheckpointEntry) -> list[tuple[str, str]]:
    line = lineage.trace(entry, index.of_project(entry.project))
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


def lines(
    rows: list[CheckpointEntry], now: datetime, own: Container[str], with_project: bool = False
) -> list[str]:
    """Return a line per checkpoint. The session is named only if there are several, the project
    only on request. Those whose path is not in `own` were made by others."""
    width = shutil.get_terminal_size((120, 24)).columns
    several = len({(entry.session_id, entry.agent_id) for entry in rows}) > 1
    ids = max((len(entry.id) for entry in rows), default=0)
    named = _projects(rows) if with_project else {entry.project: "" for entry in rows}
    texts = [
        f"{one.id:<{ids}} {_head(one, now, several, one.path in own)}{named[one.project]} "
        f"{shown(one.summary)}"
        for one in rows
    ]
    return [short(text, width) for text in texts]


def heading(rows: list[CheckpointEntry], with_project: bool = False) -> str:
    """Return the heading of these lines."""
    ids = max((len(entry.id) for entry in rows), default=0)
    session = " session " if len({(one.session_id, one.agent_id) for one in rows}) > 1 else ""
    wide = max(map(len, _projects(rows).values())) if with_project else 0
    project = f"{' project':<{wide}}" if with_project else ""
    text = (
        f"{'checkpoint':<{ids}} {'age':>8} {'trigger':<11} {'nr':<3}{session}{project} asked last"
    )
    return short(text, shutil.get_terminal_size((120, 24)).columns)


def _projects(rows: list[CheckpointEntry]) -> dict[str, str]:
    """Return the name of each project: its folder's name, or its path if two folders share the
    name."""
    folders = {entry.project: entry.project.rstrip("/").rpartition("/")[2] for entry in rows}
    shared = list(folders.values())
    names = {p: shown(name if shared.count(name) == 1 else p) for p, name in folders.items()}
    wide = max(map(len, ("project", *names.values())))
    return {path: f" {name:<{wide}}" for path, name in names.items()}


def age(entry: CheckpointEntry, now: datetime) -> str:
    minutes = (now - timestamps.from_iso(entry.created)).total_seconds() / 60
    if minutes < -1:
        return "in the future"
    if minutes < 90:
        return f"{max(0, minutes):.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 2880 else f"{minutes / 1440:.0f} days"


def _head(entry: CheckpointEntry, now: datetime, several: bool, own: bool) -> str:
    agent = f"/{entry.agent_id[:8]}" if entry.agent_id else ""
    who = f" {shown(entry.session_id[:8] + agent)}" if several else ""
    unknown = " UNKNOWN" if provenance.hashes() is None else " FOREIGN"
    mark = ("" if entry.verified else " NOT VERIFIED") + ("" if own else unknown)
    number = f"#{entry.iteration}"
    return f"{age(entry, now):>8} {entry.trigger:<11} {number:<3}{who}{mark}"

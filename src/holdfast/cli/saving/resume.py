"""`holdfast resume`: list checkpoints, show one, or print it to hand to the model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from holdfast.brief import checkpoint_brief
from holdfast.checkpoint import find, index, lineage, parse, provenance, snapshot
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import Changed, NoCheckpoint
from holdfast.cli.saving import archived_sessions, resume_list
from holdfast.cli.terminal import say
from holdfast.redact import redact
from holdfast.text import fence
from holdfast.text.escape import shown


@click.command()
@click.argument("which", type=click.Path(), required=False)
@click.option(
    "--load",
    "as_text",
    is_flag=True,
    help="Print only its sections, marked as reference, for the model.",
)
@click.option("--anyway", is_flag=True, help="Load it although it was CHANGED since it was saved.")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The project's folder (default: this folder).",
)
@click.option("--all", "everywhere", is_flag=True, help="List the checkpoints of every project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def resume(
    which: str | None,
    as_text: bool,
    anyway: bool,
    project: Path | None,
    everywhere: bool,
    as_json: bool,
) -> None:
    """List checkpoints, newest first, or show WHICH: an id, a file, `latest`, `previous`, or the
    id of an archived session, of which the brief is shown."""
    where = str((project or Path.cwd()).absolute())
    known = index.known()
    if which or as_text:
        try:
            meant = find.named(which or find.LATEST, where)
        except NoCheckpoint:
            session = archived_sessions.named(which) if which else None
            if session is None:
                raise
            archived_sessions.show(session, as_text, as_json)
            return
        entry, _ = checks.looked_at(meant, known)
        _warn(entry, refuse=as_text and not anyway)
        one(entry, as_text, as_json)
        return
    listed = find.ordered(known if everywhere else index.of_project(where, foreign=True))
    found = [checks.looked_at(entry, known) for entry in listed]
    if as_json:
        click.echo(json.dumps([row(entry) for entry, _ in found]))
        return
    if found:
        say(resume_list.heading(found), err=True)
    own = {entry.path for entry in provenance.own(entry for entry, _ in found)}
    for line in resume_list.lines(found, datetime.now(UTC), own):
        say(line)
    if not archived_sessions.list_gone(where, everywhere) and not found:
        say(
            f"No checkpoint of {where} yet. Hooks save one when the window fills; "
            "save one now: holdfast checkpoint",
            err=True,
        )


def _warn(entry: CheckpointEntry, *, refuse: bool) -> None:
    """One that is not what was kept is shown all the same, and said to be; to the model it goes
    only if somebody wants that."""
    if not provenance.is_own(entry):
        say(checkpoint_brief.foreign(entry), err=True)
    if entry.verified:
        return
    if refuse:
        raise Changed(checkpoint_brief.changed(entry))
    say(checkpoint_brief.changed(entry), err=True)


def one(entry: CheckpointEntry, as_text: bool, as_json: bool) -> None:
    """One checkpoint, with its place among the others."""
    if as_json:
        document = parse.parse(parse.load(entry.path)).document
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
        ("made", f"{entry.created}, {entry.trigger}, number {entry.iteration} of its session"),
        ("parents", since),
    ]

"""`holdfast checkpoint` saves what a session knows and reads it back; `verify` checks saved
checkpoints; `diff` compares two of them."""

import os
import time
from pathlib import Path

import click

from holdfast.checkpoint import checkpoint_file, find, index
from holdfast.checkpoint import verify as checks
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON, FOLDER, demo_session, in_project, of_session
from holdfast.cli.terminal import paint, print_json, say, working
from holdfast.files.folders import INSIDE
from holdfast.session import take_checkpoint
from holdfast.settings import load as settings_load
from holdfast.text.fence import escape, shown
from holdfast.text.numbers import counted
from holdfast.window import measurement
from holdfast.window import state as window_state
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


@click.command()
@of_session
@in_project(type=FOLDER, help="Save it in this project's folder.")
@click.option("--what", multiple=True, help="Add a line: what was done.")
@click.option("--why", multiple=True, help="Add a line: why.")
@click.option("--decided", multiple=True, help="Add a line: what was decided.")
@click.option("--next", multiple=True, help="Add a line: what is next.")
@AS_JSON
def checkpoint(session: str, project: Path | None, as_json: bool, **given: tuple[str, ...]) -> None:
    """Save a session now.

    A checkpoint is a Markdown file in the project, read back before it is reported. Holdfast also
    saves by itself: before every compaction, and near the limit.

    \b
    Examples:
      holdfast checkpoint            this folder's session
      holdfast checkpoint 752b636e   another one, by the start of its id
    """
    if session == demo_session() and project is None:
        raise click.UsageError("--demo needs --project DIR: the folder to save the example in")
    chosen = sessions.choose(session, only_here=project is None)
    now_ms = int(time.time() * 1000)
    with (
        working("saving"),
        sessions.working_folder(chosen) as folder,
        window_state.lock_state_if_possible(folder) as state,
    ):
        # No hook may have recorded this window: its transcript tells then.
        state.transcript = chosen.state.transcript
        for name in ("session_id", "agent_id", "cwd", "project"):
            setattr(state, name, getattr(state, name) or getattr(chosen.state, name))
        if chosen.folder:  # the end of a gzip file cannot be read alone
            measurement.measure(state, settings_load.load(state.project), now_ms, folder)
        own, state.project = state.project, str(project.resolve()) if project else state.project
        kept = take_checkpoint.save(state, folder, "manual", now_ms, given=given)
        state.project = own
    if as_json:
        values = {name: getattr(kept, name) for name in ("id", "path", "content_hash", "reused")}
        return print_json({**values, "why_elsewhere": kept.why_elsewhere or None})
    say(kept.path)
    if not session:
        sessions.say_others(chosen, "checkpoint")
    place = f"not in the project: {kept.why_elsewhere}" if kept.why_elsewhere else ""
    for note in filter(None, (place, *kept.notes)):
        say(f"note: {shown(note)}", err=True)
    how = "verified by reading it back"
    how = how if kept.document.is_complete else "NOT VERIFIED: the transcript was not read"
    how = "the same state was saved already" if kept.reused else how
    whose = f"session {shown(chosen.state.session_id[:8])}"
    say(f"{whose}, {how}; `holdfast resume {kept.id}` shows it", err=True)


class NoSuchFile(HoldfastError):
    hint = "`holdfast resume --all` lists the checkpoints there are, with their ids"


@click.command()
@click.argument("file", type=click.Path(), required=False)
@AS_JSON
@click.pass_context
def verify(ctx: click.Context, file: str | None, as_json: bool) -> None:
    """Check that checkpoints are exactly what was saved.

    FILE is a checkpoint's file or its id. Without FILE, all known checkpoints are checked. The exit
    code is 1 if one was changed.
    """
    here = [str(Path.cwd())]
    reports = [_verify_named(file)] if file else checks.verify_projects(here)
    good = all(report.ok for report in reports)
    if as_json:
        print_json({"ok": good, "checkpoints": [_plain_report(report) for report in reports]})
    else:
        show_reports(reports)
    ctx.exit(0 if good else 1)


def _verify_named(named: str) -> checks.VerifyReport:
    """Verify a file; for the id of a checkpoint, the newest file that has it. A missing file that
    we saved is damage; any other missing file is a wrong name."""
    path, entries = find.full_path(named), index.load_or_empty()
    same = [entry.path for entry in entries if entry.id == named]
    path = same[-1] if same and not os.path.lexists(path) else path
    is_known = path in {entry.path for entry in entries}
    if not os.path.lexists(path) and not is_known:
        raise NoSuchFile(f"{shown(path)} is not there")
    report = checks.verify(path, entries)
    # One that is not in the index may be damaged: it is where they are, or begins as they do.
    may_be = f"/{INSIDE}/" in path or places.read_small(path, 4) == b"---\n"
    if not (report.ok or is_known or may_be):
        raise NoSuchFile(f"{shown(path)} is no checkpoint of Holdfast")
    return report


def _plain_report(report: checks.VerifyReport) -> dict[str, object]:
    findings = [{"part": each.part, "words": each.words} for each in report.findings]
    return {"path": report.path, "ok": report.ok, "findings": findings, "notes": [*report.notes]}


def show_reports(reports: list[checks.VerifyReport]) -> None:
    for report in reports:
        mark = paint("ok     ", "green") if report.ok else paint("NOT VERIFIED", "red")
        say(f"{mark} {shown(report.path)}", hang=8)
        for finding in report.findings:
            say(f"        {finding.part}: {shown(finding.words)}")
        for note in report.notes:
            say(f"        {'intact; ' if report.ok else ''}{shown(note)}")
    bad = sum(not report.ok for report in reports)
    if not reports:
        say("No checkpoint has been saved yet: holdfast checkpoint saves one.", err=True)
    elif len(reports) != 1:
        words = f"{bad} NOT" if bad else "all"
        say(f"{counted(len(reports), 'checkpoint')}, {words} verified", err=True)


@click.command()
@click.argument("older", type=click.Path(), required=False)
@click.argument("newer", type=click.Path(), required=False)
@AS_JSON
def diff(older: str | None, newer: str | None, as_json: bool) -> None:
    """Show what changed between two checkpoints.

    OLDER and NEWER are ids, files, `previous` or `latest`. Without them, the newest checkpoint of
    this session is compared with the one before it.
    """
    where = str(Path.cwd().absolute())
    if older is None:
        before, after = find.newest_with_parent(where, sessions.calling_session())
    else:
        before, after = (find.find_by_name(name, where) for name in (older, newer or find.LATEST))
    if newer is None and before.path == after.path:
        raise click.UsageError(f"{before.id} is the newest checkpoint: name an older one")
    documents = (checkpoint_file.read(entry.path).document for entry in (before, after))
    changes = find.compare(*documents)
    if as_json:
        sections = {one.heading: {"added": one.added, "removed": one.removed} for one in changes}
        ends = {"older": before, "newer": after}
        paths = {name: entry.path for name, entry in ends.items()}
        names = {f"{name}_session_id": entry.session_id for name, entry in ends.items()}
        return print_json({**paths, **names, "sections": sections})
    say(f"sessions {shown(_window(before))} → {shown(_window(after))}", err=True)
    say(f"{before.id} → {after.id}")
    for change in changes:
        say(f"\n## {escape(change.heading)}")
        for sign, items in (("-", change.removed), ("+", change.added)):
            for item in items:
                say(f"{sign} " + escape(item).replace("\n", "\n  "))
    if not changes:
        say("No item was added or removed.", err=True)


def _window(entry: CheckpointEntry) -> str:
    return f"{entry.session_id}, agent {entry.agent_id}" if entry.agent_id else entry.session_id

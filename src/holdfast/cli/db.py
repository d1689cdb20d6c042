"""`holdfast db`: upgrade the database, check it, back it up, restore it, send to a server.
`holdfast rebuild`: make everything again that can be made from the files.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.checkpoint import index, provenance
from holdfast.checkpoint import rebuild as rebuilding
from holdfast.cli import checkpoint as verify_command
from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import say
from holdfast.text.fence import shown
from holdfast.text.numbers import counted

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

DATABASE = click.option(
    "--database", default="", metavar="URL", help="sqlite:///… or postgresql://…"
)


@click.group()
def db() -> None:
    """The shared database: bring it up, check it, back it up, restore it."""


@db.command()
@DATABASE
@AS_JSON
def migrate(database: str, as_json: bool) -> None:
    """Create the database, or update an older one."""
    from holdfast.hub.store import schema

    with _engine(database) as engine:
        before = schema.ensure(engine, migrate=True)
    found = {"database": _shown(database), "from": before or None, "to": schema.HEAD}
    made = f"brought up from {before}" if before else "made"
    words = "is there already" if before == schema.HEAD else made
    _say(found, as_json, f"{found['database']} {words}: version {schema.HEAD}")


@db.command()
@DATABASE
@AS_JSON
def check(database: str, as_json: bool) -> None:
    """Check the database. Ends with 1 if something is wrong."""
    from holdfast.hub.store import schema

    found = schema.check_at(database)
    ok = all(one.ok for one in found)
    report = [{"name": one.name, "ok": one.ok, "words": one.words} for one in found]
    lines = [f"{'ok ' if one.ok else 'NOT'} {one.name}: {one.words}" for one in found]
    shown = _shown(database)
    _say({"database": shown, "ok": ok, "findings": report}, as_json, "\n".join([shown, *lines]))
    if not ok:
        raise click.exceptions.Exit(1)


@db.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@DATABASE
@AS_JSON
def backup(file: Path | None, database: str, as_json: bool) -> None:
    """Write everything into one file, and read it back."""
    from holdfast.hub.store import backup as backups

    path = file or _backup_file()
    with _engine(database) as engine:
        rows = backups.keep(engine, path)
    found = {"file": str(path), "rows": rows, "bytes": path.stat().st_size}
    size = f"{counted(sum(rows.values()), 'row')} of {counted(len(rows), 'table')}"
    words = f"{path}: {size}, read back and complete"
    _say(found, as_json, f"{words}\n  restore it: holdfast db restore {path}")


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@DATABASE
@click.option("--yes", is_flag=True, help="Replace the rows that are there.")
@AS_JSON
def restore(file: Path, database: str, yes: bool, as_json: bool) -> None:
    """Restore a backup, completely or not at all."""
    from holdfast.hub.store import backup as backups
    from holdfast.hub.store import schema

    with backups.opened_copy(file) as kept:  # first: nothing is set aside for an invalid backup
        aside = schema.set_aside_if_damaged(database) if yes else None
        if aside is not None:
            say(f"the database was damaged; it is saved as {aside}", err=True)
        with _engine(database) as engine:
            rows = backups.restore(kept, engine, replace=yes)
    found = {"database": _shown(database), "file": str(file), "rows": rows}
    count = counted(sum(rows.values()), "row")
    _say(found, as_json, f"{found['database']}: {count} restored")


@db.command()
@click.option("--follow", is_flag=True, help="Repeat every ten seconds, until Ctrl-C.")
@AS_JSON
def forward(follow: bool, as_json: bool) -> None:
    """Send everything that is waiting to the team server. Ends with 1 if not all arrived."""
    from holdfast.hub.team import connection
    from holdfast.hub.team import forward as forwarding
    from holdfast.hub.team.forward import LocalSource

    server = connection.server()
    while True:
        done = forwarding.forward(server, LocalSource())
        found = {"server": server.url, "batches": done.batches, "whole": done.whole}
        found |= {"messages": done.messages}
        words = f"{server.url}: {counted(done.batches, 'batch')} sent"
        words += f", {counted(done.messages, 'message')} for agents here" * bool(done.messages)
        words += f"; {done.words}" * bool(done.words)
        _say({**found, "words": done.words}, as_json, words)
        if not follow:
            break
        time.sleep(connection.EVERY_MS / 1000)
    if not done.whole:
        raise click.exceptions.Exit(1)


@contextmanager
def _engine(database: str) -> Iterator[Engine]:
    from holdfast.hub.store.engine import default_url, open_engine

    engine = open_engine(database or default_url())
    try:
        yield engine
    finally:
        engine.dispose()


def _backup_file() -> Path:
    from holdfast.wire import places

    folder = Path(places.home()) / "backups"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / time.strftime("holdfast-%Y%m%d-%H%M%S.db", time.gmtime())


def _shown(database: str) -> str:
    from holdfast.hub.store.engine import hide_password

    return hide_password(database)


def _say(found: dict[str, Any], as_json: bool, words: str) -> None:
    click.echo(json.dumps(found) if as_json else words)


if TYPE_CHECKING:
    from holdfast.hub.repair.rebuild import Rebuilt


@click.command()
@click.option(
    "--project",
    "projects",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also read this project; can be repeated.",
)
@click.option("--database", default="", metavar="URL", help="sqlite:///… or postgresql://…")
@AS_JSON
def rebuild(projects: tuple[Path, ...], database: str, as_json: bool) -> None:
    """Make index and rows again from checkpoint files, transcripts and what hooks noted."""
    from holdfast.hub.repair import rebuild as rows
    from holdfast.memory import sync as recall

    also = [str(one.absolute()) for one in (Path.cwd(), *projects)]
    found = rebuilding.rebuild(also)
    filled = rows.rebuild(database)
    indexed = recall.rebuild(also)
    if as_json:
        report = {"database": dataclasses.asdict(filled), "recall": [i._asdict() for i in indexed]}
        click.echo(json.dumps({**plain_rebuild(found), **report}))
        return
    show_rebuild(found)
    show_rows(filled, len(found.entries))
    for one in indexed:
        say(f"{shown(one.project)}: {counted(one.items, 'item')} to search in")
        for note in one.notes:
            say(f"  {shown(note)}")


def show_rebuild(found: rebuilding.RebuiltIndex) -> None:
    checkpoints = counted(len(found.entries), "checkpoint")
    say(f"{index.path()}: {checkpoints} of {counted(len(found.projects), 'project')}")
    for label, things in _changes(found).items():
        for thing in things:
            say(f"  {label}: {shown(thing)}")
    if found.damaged:
        say("changed since they were saved; the files were not touched:")
        verify_command.show_reports(found.damaged)


def show_rows(filled: Rebuilt, checkpoint_files: int) -> None:
    """Print the rows. A checkpoint whose file is gone still has its snapshot, and so its row. Rows
    of snapshots stay at a rebuild, so only new ones are counted."""
    if filled.set_aside:
        say(f"the database was damaged; it is saved as {filled.set_aside}")
        saved = ", ".join(f"{n} {name}" for name, n in filled.saved.items()) or "nothing"
        say(f"  read from it: {saved}; restart holdfast serve if it runs")
    synced = filled.synced
    nouns = ("request", "task", "subtask", "action")
    counts = ", ".join(counted(getattr(synced, f"{noun}s"), noun) for noun in nouns)
    counts += f", {counted(synced.checkpoints, 'new snapshot')} of checkpoints"
    removed = (
        ", with those whose file is gone or damaged"
        if synced.checkpoints > checkpoint_files
        else ""
    )
    say(f"{filled.database}: {counts}{removed}")
    if synced.set_aside:
        failed = counted(synced.set_aside, "source")
        say(f"  could not be read: {failed}; holdfast doctor names them")


def plain_rebuild(found: rebuilding.RebuiltIndex) -> dict[str, object]:
    return {
        "index": index.path(),
        "checkpoints": len(found.entries),
        "projects": found.projects,
        "damaged": [verify_command.plain_report(one) for one in found.damaged],
        "added": found.added,
        "dropped": found.dropped,
        "foreign": found.foreign,
    }


def _foreign_label() -> str:
    unknown = "maker unknown, as the list of our own checkpoints is missing"
    return unknown if provenance.hashes() is None else "not made on this machine"


def _changes(found: rebuilding.RebuiltIndex) -> dict[str, list[str]]:
    return {
        "added": found.added,
        "dropped": found.dropped,
        _foreign_label(): found.foreign,
    }

"""`holdfast db`: upgrade the database, check it, back it up, restore it, send to a server.
`holdfast rebuild`: make everything again that can be made from the files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy.engine import Engine

from holdfast.checkpoint import index
from holdfast.checkpoint import verify as rebuilding
from holdfast.cli.checkpoint import show_reports
from holdfast.cli.options import DATABASE, FILE, flag
from holdfast.cli.terminal import say, working
from holdfast.hub import rebuild as tables
from holdfast.hub.store import backup as backups
from holdfast.hub.store import schema
from holdfast.hub.store.engine import default_url, hide_password, open_engine
from holdfast.hub.team import connection
from holdfast.hub.team import forward as forwarding
from holdfast.hub.team.forward import LocalSource
from holdfast.memory import sync as recall
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.wire import places


@click.group()
def db() -> None:
    """Check, back up and restore the database; send it to a team server.

    The database is made and updated by itself. It holds the tree of work, messages and claims.
    """


@db.command()
@DATABASE
def migrate(database: str) -> None:
    """Create the database, or update an older one."""
    with working("updating"), _engine(database) as engine:
        before = schema.ensure(engine, migrate=True)
    made = f"updated from {before}" if before else "created"
    words = "is up to date" if before == schema.HEAD else made
    say(f"{hide_password(database)} {words}: version {schema.HEAD}")


@db.command()
@DATABASE
def check(database: str) -> None:
    """Check the database. The exit code is 1 if something is wrong."""
    with working("checking"):
        findings = schema.check_at(database)
    say(hide_password(database))
    for finding in findings:
        say(f"{'ok ' if finding.ok else 'NOT'} {finding.name}: {finding.words}")
    if not all(finding.ok for finding in findings):
        raise click.exceptions.Exit(1)


@db.command()
@click.argument("file", required=False, type=FILE)
@DATABASE
def backup(file: Path | None, database: str) -> None:
    """Write everything into one file, and read it back."""
    folder = Path(places.home()) / "backups"
    if file is None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = file or folder / time.strftime("holdfast-%Y%m%d-%H%M%S.db", time.gmtime())
    with working("writing"), _engine(database) as engine:
        rows = backups.keep(engine, path)
    size = f"{counted(sum(rows.values()), 'row')} of {counted(len(rows), 'table')}"
    say(f"{path}: {size}, read back and complete\n  restore it: holdfast db restore {path}")


@db.command()
@click.argument("file", type=FILE)
@DATABASE
@flag("--yes", help="Replace the rows that are there.")
def restore(file: Path, database: str, yes: bool) -> None:
    """Restore a backup, completely or not at all."""
    with backups.opened_copy(file) as kept:  # first: nothing is set aside for an invalid backup
        aside = schema.set_aside_if_damaged(database) if yes else None
        if aside is not None:
            say(f"the database was damaged; it is saved as {aside}", err=True)
        with working("restoring"), _engine(database) as engine:
            rows = backups.restore(kept, engine, replace=yes)
    say(f"{hide_password(database)}: {counted(sum(rows.values()), 'row')} restored")


@db.command()
def forward() -> None:
    """Send everything that is waiting to the team server. The exit code is 1 if not all arrived."""
    server = connection.server()
    done = forwarding.forward(server, LocalSource())
    words = f"{server.url}: {counted(done.batches, 'batch')} sent"
    words += f", {counted(done.messages, 'message')} for agents here" * bool(done.messages)
    say(f"{words}; {done.words}" if done.words else words)
    if not done.whole:
        raise click.exceptions.Exit(1)


@contextmanager
def _engine(database: str) -> Iterator[Engine]:
    engine = open_engine(database or default_url())
    try:
        yield engine
    finally:
        engine.dispose()


@click.command()
@DATABASE
def rebuild(database: str) -> None:
    """Rebuild the database and the index of checkpoints.

    They are made again from checkpoints and transcripts, for example when the database is damaged
    or was removed. Messages and claims are in the database only, so they are not rebuilt.
    """
    also = [str(Path.cwd())]
    with working("rebuilding"):
        rebuilt = rebuilding.rebuild(also)
        filled = tables.rebuild(database)
        indexed = recall.rebuild(also)
    _show_checkpoints(rebuilt)
    _show_rows(filled)
    for index_sync in indexed:
        say(f"{shown(index_sync.project)}: {counted(index_sync.items, 'item')} to search in")
        for note in index_sync.notes:
            say(f"  {shown(note)}")


def _show_checkpoints(rebuilt: rebuilding.RebuiltIndex) -> None:
    checkpoints = counted(len(rebuilt.entries), "checkpoint")
    say(f"{index.path()}: {checkpoints} of {counted(len(rebuilt.projects), 'project')}")
    foreign = "made elsewhere, or by an install whose list of checkpoints is gone"
    changes = {"added": rebuilt.added, "dropped": rebuilt.dropped, foreign: rebuilt.foreign}
    for label, name in ((label, name) for label, names in changes.items() for name in names):
        say(f"  {label}: {shown(name)}")
    if rebuilt.damaged:
        say("changed since they were saved; the files were not touched:")
        show_reports(rebuilt.damaged)


def _show_rows(filled: tables.Rebuilt) -> None:
    """Print the rows. Those of snapshots stay at a rebuild, so only new ones are counted."""
    if filled.set_aside:
        saved = ", ".join(f"{n} {name}" for name, n in filled.saved.items()) or "nothing"
        say(f"the database was damaged; it is saved as {filled.set_aside}")
        say(f"  read from it: {saved}; restart holdfast serve if it runs")
    nouns = ("request", "task", "subtask", "action")
    counts = ", ".join(counted(getattr(filled.synced, f"{noun}s"), noun) for noun in nouns)
    snapshots = counted(filled.synced.checkpoints, "new snapshot")
    say(f"{filled.database}: {counts}, {snapshots} of checkpoints")
    if filled.synced.set_aside:
        failed = counted(filled.synced.set_aside, "source")
        say(f"  could not be read: {failed}; holdfast doctor names them")

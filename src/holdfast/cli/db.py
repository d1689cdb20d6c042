"""`holdfast db`: upgrade the database, check it, back it up, restore it, send to a server.
`holdfast rebuild`: make everything again that can be made from the files.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.checkpoint import index
from holdfast.checkpoint import verify as rebuilding
from holdfast.cli.checkpoint import show_reports
from holdfast.cli.options import DATABASE
from holdfast.cli.terminal import say, working
from holdfast.text.fence import shown
from holdfast.text.numbers import counted

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from holdfast.hub.rebuild import Rebuilt


@click.group()
def db() -> None:
    """Check, back up, restore and forward the database.

    The database is made and updated by itself. It holds the tree of work, messages and claims.

    \b
    Examples:
      holdfast db check         ends with 1 if something is wrong
      holdfast db backup FILE   everything in one file
    """


@db.command()
@DATABASE
def migrate(database: str) -> None:
    """Create the database, or update an older one."""
    from holdfast.hub.store import schema

    with working("updating"), _engine(database) as engine:
        before = schema.ensure(engine, migrate=True)
    made = f"brought up from {before}" if before else "made"
    words = "is there already" if before == schema.HEAD else made
    say(f"{_shown(database)} {words}: version {schema.HEAD}")


@db.command()
@DATABASE
def check(database: str) -> None:
    """Check the database. Ends with 1 if something is wrong."""
    from holdfast.hub.store import schema

    with working("checking"):
        findings = schema.check_at(database)
    ok = all(finding.ok for finding in findings)
    say(_shown(database))
    for finding in findings:
        say(f"{'ok ' if finding.ok else 'NOT'} {finding.name}: {finding.words}")
    if not ok:
        raise click.exceptions.Exit(1)


@db.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@DATABASE
def backup(file: Path | None, database: str) -> None:
    """Write everything into one file, and read it back."""
    from holdfast.hub.store import backup as backups

    path = file or _backup_file()
    with working("writing"), _engine(database) as engine:
        rows = backups.keep(engine, path)
    size = f"{counted(sum(rows.values()), 'row')} of {counted(len(rows), 'table')}"
    say(f"{path}: {size}, read back and complete\n  restore it: holdfast db restore {path}")


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@DATABASE
@click.option("--yes", is_flag=True, help="Replace the rows that are there.")
def restore(file: Path, database: str, yes: bool) -> None:
    """Restore a backup, completely or not at all."""
    from holdfast.hub.store import backup as backups
    from holdfast.hub.store import schema

    with backups.opened_copy(file) as kept:  # first: nothing is set aside for an invalid backup
        aside = schema.set_aside_if_damaged(database) if yes else None
        if aside is not None:
            say(f"the database was damaged; it is saved as {aside}", err=True)
        with working("restoring"), _engine(database) as engine:
            rows = backups.restore(kept, engine, replace=yes)
    say(f"{_shown(database)}: {counted(sum(rows.values()), 'row')} restored")


@db.command()
def forward() -> None:
    """Send everything that is waiting to the team server. Ends with 1 if not all arrived."""
    from holdfast.hub.team import connection
    from holdfast.hub.team import forward as forwarding
    from holdfast.hub.team.forward import LocalSource

    server = connection.server()
    done = forwarding.forward(server, LocalSource())
    words = f"{server.url}: {counted(done.batches, 'batch')} sent"
    words += f", {counted(done.messages, 'message')} for agents here" * bool(done.messages)
    say(f"{words}; {done.words}" if done.words else words)
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


@click.command()
@DATABASE
def rebuild(database: str) -> None:
    """Rebuild the database and the index of checkpoints.

    They are made again from checkpoints and transcripts, for example when the database is damaged
    or was removed. Messages and claims are in the database only, so they are not rebuilt.
    """
    from holdfast.hub import rebuild as rows
    from holdfast.memory import sync as recall

    also = [str(Path.cwd())]
    with working("rebuilding"):
        rebuilt = rebuilding.rebuild(also)
        filled = rows.rebuild(database)
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
    unknown = "maker unknown, as the list of our own checkpoints is missing"
    foreign = unknown if index.own_hashes() is None else "not made on this machine"
    changes = {"added": rebuilt.added, "dropped": rebuilt.dropped, foreign: rebuilt.foreign}
    for label, names in changes.items():
        for name in names:
            say(f"  {label}: {shown(name)}")
    if rebuilt.damaged:
        say("changed since they were saved; the files were not touched:")
        show_reports(rebuilt.damaged)


def _show_rows(filled: Rebuilt) -> None:
    """Print the rows. Those of snapshots stay at a rebuild, so only new ones are counted."""
    if filled.set_aside:
        say(f"the database was damaged; it is saved as {filled.set_aside}")
        saved = ", ".join(f"{n} {name}" for name, n in filled.saved.items()) or "nothing"
        say(f"  read from it: {saved}; restart holdfast serve if it runs")
    nouns = ("request", "task", "subtask", "action")
    counts = ", ".join(counted(getattr(filled.synced, f"{noun}s"), noun) for noun in nouns)
    snapshots = counted(filled.synced.checkpoints, "new snapshot")
    say(f"{filled.database}: {counts}, {snapshots} of checkpoints")
    if filled.synced.set_aside:
        failed = counted(filled.synced.set_aside, "source")
        say(f"  could not be read: {failed}; holdfast doctor names them")

"""`holdfast log`: what the guard did, every alert as an audit event, and decisions made in a nearly
full window."""

import json
import time
from collections.abc import Iterator
from contextlib import closing

import click

from holdfast.cli.options import AS_JSON, flag
from holdfast.cli.terminal import paint, say, working
from holdfast.hub import row_times
from holdfast.window import audit
from holdfast.window.audit import LogLine
from holdfast.wire import log as guard_log
from holdfast.wire.log import inert

LOOK_EVERY_SECONDS = 0.5
COLOURS = {"WARN": "yellow", "ALERT": "orange", "ERROR": "red"}
EMPTY = "Nothing is logged yet. Hooks write here while Claude Code runs, after `holdfast install`."


@click.command()
@flag("--follow", "-f", help="Go on with new lines as they come.")
@click.option("--lines", "-n", default=40, type=click.IntRange(0), help="How many (default: 40).")
@click.option("--level", type=click.Choice(guard_log.LEVELS), help="This level and above.")
@flag("--audit", "as_audit", help="Show every alert and compaction as a JSON line.")
@flag("--decisions", help="Show what was decided in an orange or red window.")
@AS_JSON
def log(
    follow: bool, lines: int, level: str | None, as_audit: bool, decisions: bool, as_json: bool
) -> None:
    """Show what Holdfast did.

    Errors of hooks are only here: a hook that fails never stops Claude Code.
    """
    if decisions:
        return _show_decisions(lines, as_json)
    if as_audit:
        for event in audit.events():
            click.echo(json.dumps(event))
        return
    known = list(audit.log_lines())
    wanted = [line for line in known if line.fits(level)]
    for line in wanted[-lines:] if lines else []:
        _print(line, as_json)
    if not wanted and not follow:
        say("Nothing of that kind is in the log." if level else EMPTY, err=True)
    for line in _following(known) if follow else ():
        if line.fits(level):
            _print(line, as_json)


def _print(line: LogLine, as_json: bool) -> None:
    if as_json:
        return click.echo(json.dumps(line._asdict()))
    at, level, place, message = line
    say(f"{at} {paint(level, COLOURS.get(level, 'dim'))} {place} {message}", hang=4)


def _show_decisions(lines: int, as_json: bool) -> None:
    """Print the decisions made in a nearly full window, from the checkpoints in the database."""
    from holdfast.hub.ingest.sync import sync
    from holdfast.hub.store.store import Store
    from holdfast.hub.tree.audit import list_decisions

    with closing(Store.open()) as store, working("reading"):
        sync(store)
        newest = store.read(list_decisions)[:lines]
    for row in reversed(newest):
        row = {"at": row_times.to_iso(row["at_ms"]), **row}
        if as_json:
            click.echo(json.dumps(row))
        else:
            window = f"{row['at']} {row['zone']} {row['used_ratio'] or 0:.0%}"
            question = f"{inert(row['question'], 300)} → " if row["question"] else ""
            where = f"{window} {row['session_id'][:8]} turn {row['turn']}, {row['by']}"
            say(f"{where}: {question}{inert(row['decision'], 300)}", hang=4)
    if not newest:
        say("No decision was made in an orange or red window.", err=True)


def _following(known: list[LogLine]) -> Iterator[LogLine]:
    """Yield new lines as they come. After a rotation the oldest of the known ones are gone."""
    while True:
        time.sleep(LOOK_EVERY_SECONDS)
        lines = list(audit.log_lines())
        while known and lines[: len(known)] != known:
            known = known[1:]
        yield from lines[len(known) :]
        known = lines

"""`holdfast pin`: rules that stand in every brief, until they are taken back."""

from __future__ import annotations

import json
import os
import shlex

import click

from holdfast.budget import ledger, operations
from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.cli.budget import project_path, repair, say_changed, session_id_of
from holdfast.cli.options import AS_JSON, USER
from holdfast.cli.terminal import say
from holdfast.hub import row_times
from holdfast.text.fence import shown

IN_CLAUDE_CODE = "CLAUDECODE"  # set in its shells, where the model types as well as the user


@click.command()
@click.argument("rule", default="")
@USER
@click.option("--session", default="", metavar="ID", help="For one session; `now` is this one.")
@click.option(
    "--compartment",
    metavar="NAME",
    type=click.Choice(NAMES),
    default=PREFERENCES,
    show_default=True,
    help="Which part of the brief it belongs to; `holdfast budget` lists them.",
)
@click.option("--remove", "pin_id", default="", metavar="ID", help="Take a pin back.")
@AS_JSON
def pin(
    rule: str, is_user: bool, session: str, compartment: str, pin_id: str, as_json: bool
) -> None:
    """Pin a rule: it stands in every brief.

    Without RULE it lists what is pinned.

    \b
    Examples:
      holdfast pin 'Never touch data/raw.'       in every brief of this project
      holdfast pin 'Answer in German.' --user    in all your projects
    """
    session_id = session_id_of(session)
    if pin_id:
        _unpin(pin_id, session_id)
    elif rule:
        scope = "session" if session else "user" if is_user else "project"
        _pin(rule, scope, session_id, compartment)
    else:
        _list(ledger.read(project_path(), session_id).pins, as_json)


def _pin(rule: str, scope: str, session_id: str, compartment: str) -> None:
    project = project_path()
    repair(scope, project, session_id)
    before = ledger.read(project, session_id).pins
    pinned = operations.pin(
        rule,
        now_ms=row_times.now_ms(),
        compartment=compartment,
        scope=scope,
        project=project,
        session_id=session_id,
        by="" if IN_CLAUDE_CODE in os.environ else ledger.USER,
    )
    again = any(pinned._replace(created_ms=old.created_ms) == old for old in before)
    words = f"{'already pinned' if again else 'pinned'} {pinned.id} ({scope}, {compartment})"
    undo = f"pin --remove {pinned.id}{_session(session_id)}"
    say_changed(words, undo)


def _unpin(pin_id: str, session_id: str) -> None:
    gone = operations.unpin(pin_id, project=project_path(), session_id=session_id)
    where = {"user": " --user", "session": _session(session_id)}.get(gone.scope, "")
    undo = f"pin {shlex.quote(gone.text)} --compartment {gone.compartment}{where}"
    words = f"unpinned {gone.id} ({gone.scope}): {shown(gone.text)}"
    say_changed(words, undo)


def _session(session_id: str) -> str:
    return f" --session {shlex.quote(session_id)}" if session_id else ""


def _list(pins: tuple[ledger.Pin, ...], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([row._asdict() for row in pins]))
        return
    for row in pins:
        say(f"{row.id}  {shown(row.text)} ({row.scope}, {row.author})")
    if not pins:
        say("Nothing is pinned. Add a rule: holdfast pin 'Never touch data/raw.'", err=True)

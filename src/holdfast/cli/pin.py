"""`holdfast pin`: rules that stand in every brief, until they are taken back."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.budget import ledger
from holdfast.budget.compartments import PREFERENCES
from holdfast.cli import budget
from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import say
from holdfast.text.fence import shown


@click.command()
@click.argument("rule", default="")
@click.option("--user", "is_user", is_flag=True, help="For all your projects.")
@click.option(
    "--project", type=click.Path(path_type=Path), help="For this project (default: this folder)."
)
@click.option("--remove", "pin_id", default="", metavar="ID", help="Take a pin back.")
@AS_JSON
@click.pass_context
def pin(
    ctx: click.Context,
    rule: str,
    is_user: bool,
    project: Path | None,
    pin_id: str,
    as_json: bool,
) -> None:
    """Put RULE into every brief; without RULE, list what is pinned."""
    if pin_id:
        ctx.invoke(budget.unpin, pin_id=pin_id, session="", project=project, as_json=as_json)
    elif rule:
        ctx.invoke(
            budget.pin,
            text=rule,
            compartment=PREFERENCES,
            session=None,
            is_user=is_user,
            project=project,
            as_json=as_json,
        )
    else:
        _show(ledger.read(budget.project_path(project), "").pins, as_json)


def _show(pins: tuple[ledger.Pin, ...], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([one._asdict() for one in pins]))
        return
    for one in pins:
        say(f"{one.id}  {shown(one.text)} ({one.scope}, {one.author})")
    if not pins:
        say("Nothing is pinned. Add a rule: holdfast pin 'Never touch data/raw.'", err=True)

"""`holdfast settings`: what holds, why, and from which file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from holdfast.events import breadcrumb
from holdfast.settings import load as settings_load
from holdfast.settings.table import TABLE, USER, Setting


@click.command()
@click.argument("name", required=False)
@click.option("--project", type=click.Path(path_type=Path), help="as it holds in this project")
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def settings(name: str | None, project: Path | None, as_json: bool) -> None:
    """Every setting, its value, where that came from, and who may set it."""
    loaded = settings_load.load(str(project or Path.cwd()))
    notes = breadcrumb.trouble(loaded, int(time.time() * 1000))
    slips = [*loaded.slips, *([notes] if notes else [])]
    rows = [one for one in TABLE if name in (None, one.name)]
    if not rows:
        raise click.BadParameter(f"there is no setting {name}")
    if as_json:
        values = {
            one.name: {
                "value": loaded.values[one.name],
                "from": loaded.origins[one.name],
                "set_by": one.set_by,
            }
            for one in rows
        }
        click.echo(json.dumps({"settings": values, "slips": slips}, indent=2))
        return
    for one in rows:
        who = "you only" if one.set_by == USER else "you or the project"
        click.echo(f"{one.name} = {loaded.values[one.name]}   (from {loaded.origins[one.name]})")
        click.echo(f"    {one.meaning}; set by {who}")
    for slip in slips:
        click.echo(f"not used: {slip}", err=True)
    names = "variables named HOLDFAST_ and the setting" if name is None else _variables(rows[0])
    click.echo(f"change: {settings_load.user_file()}, or {names}", err=True)


def _variables(one: Setting) -> str:
    return f"${one.variable}, ${one.also}" if one.also else f"${one.variable}"

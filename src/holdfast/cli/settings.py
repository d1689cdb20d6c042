"""`holdfast settings`: show each setting and where it came from; `set` and `unset` one."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from holdfast.cli.options import AS_JSON, PROJECT
from holdfast.cli.terminal import paint, print_json, say
from holdfast.events import session_end
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.settings.table import BY_NAME, TABLE, USER, Setting

PROJECT_FILE = click.option(
    "--project", metavar="DIR", type=click.Path(path_type=Path), help="In this project's file."
)


class _SettingName(click.Choice[str]):
    """The name of a setting: the shell completes it, and the error for a wrong one names the
    nearest."""

    def __init__(self) -> None:
        super().__init__(tuple(BY_NAME))

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if value not in BY_NAME:
            raise edit.no_such_setting(str(value))
        return str(value)


class _Settings(click.Group):
    """`settings NAME` shows a setting: a word that is no command below is the name of one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands:
            return "get", get, args
        return super().resolve_command(ctx, args)


@click.group(cls=_Settings, invoke_without_command=True, subcommand_metavar="[NAME | COMMAND]")
@PROJECT
@AS_JSON
@click.pass_context
def settings(context: click.Context, project: Path | None, as_json: bool) -> None:
    """Show and change settings.

    Without a command it shows the value of every setting and the file it came from.

    \b
    Examples:
      holdfast settings zone_orange               one setting
      holdfast settings set preset conservative   in your own file
      holdfast settings unset preset              back to the default
    """
    context.obj = (project, as_json)
    if context.invoked_subcommand is None:
        _show(TABLE, project, as_json)


@click.command()
@click.argument("name", type=_SettingName(), metavar="NAME")
@PROJECT
@AS_JSON
@click.pass_obj
def get(above: tuple[Path | None, bool], name: str, project: Path | None, as_json: bool) -> None:
    """Show one setting, where its value came from, and who may set it."""
    _show((BY_NAME[name],), project or above[0], as_json or above[1])


@settings.command("set")
@click.argument("name", type=_SettingName(), metavar="NAME")
@click.argument("value")
@PROJECT_FILE
def set_value(name: str, value: str, project: Path | None) -> None:
    """Write one setting into your settings file. An invalid value is refused."""
    path = settings_load.file_of(project)
    before = edit.value_in(path, name)
    written = edit.check(name, value, project)
    edit.write(name, written, path)
    say(f"{path}: {name} = {written}")
    _say_undo(name, before, project)
    _say_if_overridden(name, path, project)


@settings.command()
@click.argument("name", type=_SettingName(), metavar="NAME")
@PROJECT_FILE
def unset(name: str, project: Path | None) -> None:
    """Remove one setting from your settings file. Its default applies again."""
    path = settings_load.file_of(project)
    before = edit.value_in(path, name)
    if before is None:
        say(f"{path} does not set {name}; nothing was changed")
        return
    edit.remove(name, path)
    loaded = settings_load.load(str(project or ""))
    say(f"{path}: {name} removed; it is {loaded.values[name]} now")
    _say_undo(name, before, project)


def _say_undo(name: str, before: object, project: Path | None) -> None:
    there = f" --project {shlex.quote(str(project))}" if project else ""
    if before is None:
        say(f"  undo: holdfast settings unset {name}{there}")
    else:
        say(f"  undo: holdfast settings set {name} {shlex.quote(str(before))}{there}")


def _say_if_overridden(name: str, path: Path, project: Path | None) -> None:
    """Say so if a variable or the current project's file overrides the new value."""
    loaded = settings_load.load(str(project or Path.cwd()))
    if loaded.origins[name] != str(path):
        stronger = f"{loaded.values[name]} from {loaded.origins[name]}"
        say(f"note: here {name} is still {stronger}, which comes after this file", err=True)


def _show(rows: tuple[Setting, ...], project: Path | None, as_json: bool) -> None:
    loaded = settings_load.load(str(project or Path.cwd()))
    notes = session_end.check_note(loaded, int(time.time() * 1000))
    errors = [*loaded.errors, *([notes] if notes else [])]
    if as_json:
        values = {
            row.name: {
                "value": loaded.values[row.name],
                "from": loaded.origins[row.name],
                "set_by": row.set_by,
            }
            for row in rows
        }
        return print_json({"settings": values, "errors": errors})
    for row in rows:
        who = "you only" if row.set_by == USER else "you or the project"
        origin = loaded.origins[row.name]
        named = f"{paint(row.name, 'bold')} = {paint(str(loaded.values[row.name]), 'cyan')}"
        say(f"{named}   {paint(f'(from {origin})', *(['dim'] if origin == 'default' else []))}")
        choices = f"; one of {', '.join(row.choices)}" if row.choices else ""
        say(f"    {row.meaning}{choices}; set by {who}")
    for error in errors:
        say(f"not used: {error}", err=True)
    row = rows[0]
    also = f", ${row.also}" if row.also else ""
    name, variables = (row.name, f"${row.variable}{also}") if len(rows) == 1 else ("NAME", "")
    how = f"holdfast settings set {name} VALUE, or the variable {variables or '$HOLDFAST_NAME'}"
    say(f"change: {how}; yours are in {settings_load.user_file()}", err=True)

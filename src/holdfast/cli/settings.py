"""`holdfast settings`: show each setting and where it came from; `set` and `unset` one."""

import shlex
import time
from pathlib import Path

import click

from holdfast.cli.options import AS_JSON, FILE, in_project
from holdfast.cli.terminal import paint, print_json, say
from holdfast.events import session_end
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.settings.table import BY_NAME, TABLE, USER, Setting


def _complete(ctx: click.Context, param: click.Parameter, start: str) -> list[str]:
    verb, *names = ctx.params["words"] or [""]
    known = ["set", "unset"] if not verb else []
    known += BY_NAME if verb in ("", "set", "unset") and not names else []
    known += next((row.choices for row in TABLE if verb == "set" and names == [row.name]), ())
    return [word for word in known if word.startswith(start)]


@click.command()
@click.argument("words", nargs=-1, metavar="[[set | unset] NAME [VALUE]]", shell_complete=_complete)
@in_project(type=FILE, help="As seen from this project; `set` and `unset` change its file.")
@AS_JSON
def settings(words: tuple[str, ...], project: Path | None, as_json: bool) -> None:
    """Show and change settings.

    Without arguments it shows the value of every setting and where it came from.

    \b
    Examples:
      holdfast settings zone_orange               one setting
      holdfast settings set preset conservative   in your own file
      holdfast settings unset preset              back to the default
    """
    for name in words[1:2] if words[:1] in (("set",), ("unset",)) else words[:1]:
        if name not in BY_NAME:
            raise edit.no_such_setting(name)
    match words:
        case ():
            _show(TABLE, project, as_json)
        case ("set", name, value):
            _set(name, value, project)
        case ("unset", name):
            _unset(name, project)
        case (name,) if name in BY_NAME:
            _show((BY_NAME[name],), project, as_json)
        case _:
            raise click.UsageError("give NAME, `set NAME VALUE` or `unset NAME`")


def _set(name: str, value: str, project: Path | None) -> None:
    path = settings_load.file_of(project)
    before = edit.value_in(path, name)
    written = edit.check(name, value, project)
    edit.write(name, written, path)
    say(f"{path}: {name} = {written}")
    _say_undo(name, before, project)
    loaded = settings_load.load(str(project or Path.cwd()))
    if loaded.origins[name] != str(path):  # a variable, or the current project's file
        stronger = f"{loaded.values[name]} from {loaded.origins[name]}"
        say(f"note: here {name} is still {stronger}, which comes after this file", err=True)


def _unset(name: str, project: Path | None) -> None:
    path = settings_load.file_of(project)
    before = edit.value_in(path, name)
    if before is None:
        return say(f"{path} does not set {name}; nothing was changed")
    edit.remove(name, path)
    loaded = settings_load.load(str(project or ""))
    say(f"{path}: {name} removed; it is {loaded.values[name]} now")
    _say_undo(name, before, project)


def _say_undo(name: str, before: object, project: Path | None) -> None:
    there = f" --project {shlex.quote(str(project))}" if project else ""
    how = f"unset {name}" if before is None else f"set {name} {shlex.quote(str(before))}"
    say(f"  undo: holdfast settings {how}{there}")


def _show(rows: tuple[Setting, ...], project: Path | None, as_json: bool) -> None:
    loaded = settings_load.load(str(project or Path.cwd()))
    notes = session_end.check_note(loaded, int(time.time() * 1000))
    errors = [*loaded.errors, *([notes] if notes else [])]
    if as_json:
        values, origins = loaded.values, loaded.origins
        plain = {
            row.name: {"value": values[row.name], "from": origins[row.name], "set_by": row.set_by}
            for row in rows
        }
        return print_json({"settings": plain, "errors": errors})
    for row in rows:
        who = "you only" if row.set_by == USER else "you or the project"
        origin = loaded.origins[row.name]
        named = f"{paint(row.name, 'bold')} = {paint(str(loaded.values[row.name]), 'cyan')}"
        say(f"{named}   {paint(f'(from {origin})', *(['dim'] if origin == 'default' else []))}")
        choices = f"; one of {', '.join(row.choices)}" if row.choices else ""
        say(f"    {row.meaning}{choices}; set by {who}")
    for error in errors:
        say(f"not used: {error}", err=True)
    how = "holdfast settings set NAME VALUE, or set the variable HOLDFAST_NAME"
    say(f"To change one: {how}. Your file: {settings_load.user_file()}", err=True)

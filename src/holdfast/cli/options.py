"""What commands share: options, the argument that names a session, and checked words.

The name of a file may be any bytes. Other words must be UTF-8, so that they can be stored and
printed; they are refused here if they are not.
"""

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from holdfast.wire.log import is_utf8

Function = Callable[..., Any]
MOST_IDS = 60  # that the shell is given, the newest
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)

flag = partial(click.option, is_flag=True)
in_project = partial(click.option, "--project", metavar="DIR")
PROJECT = in_project(type=FOLDER, default=".", help="The project's folder (default: this folder).")
EVERYWHERE = flag("--all", "everywhere", help="List those of every project.")
AS_JSON = flag("--json", "as_json", help="Print JSON.")
DATABASE = click.option("--database", default="", metavar="URL", help="sqlite:/// or postgresql://")
USER = flag("--user", "is_user", help="For all your projects.")


def _session_ids(ctx: click.Context, param: click.Parameter, start: str) -> list[str]:
    from holdfast.client.agents import by_session

    return [session for session in by_session() if session.startswith(start)][:MOST_IDS]


def of_session(command: Function, *, has_demo: bool = True) -> Function:
    """Which session: SESSION, --transcript or --demo (if `has_demo`). The command gets one word,
    `session`: an id, its first characters, a transcript file, or nothing."""

    @click.argument(
        "word", default="", metavar="[SESSION]", type=click.Path(), shell_complete=_session_ids
    )
    # an older form of SESSION
    @click.option("--transcript", type=click.Path(), default="", hidden=True)
    @wraps(command)
    def with_session(word: str, transcript: str, demo: bool = False, **given: Any) -> object:
        named = [name for name in (word, transcript, demo and demo_session()) if name]
        if len(named) > 1:
            raise click.UsageError("a session is named twice")
        return command(session=next(iter(named), ""), **given)

    demo = flag("--demo", help="Use the recorded example session.")
    return demo(with_session) if has_demo else with_session


def demo_session() -> str:
    """Return the recorded session: in the wheel (hatch_build.py puts it there), else in the
    checkout."""
    here = Path(__file__)
    packed = here.with_name("demo.jsonl")
    return str(packed if packed.is_file() else here.parents[3] / "demo" / "session.jsonl")


class TextArgument(click.ParamType[str]):
    """A text that can be stored and printed."""

    name = "text"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if not is_utf8(str(value)):
            shown = ascii(str(value)[:80])
            self.fail(f"{shown} is not UTF-8; use a terminal that is", param, ctx)
        return str(value)


def prepare(command: click.Command) -> click.Command:
    """Return the command with checked words, and plain placeholders in its help."""
    for param in command.params:
        if param.type is click.STRING:
            param.type = TextArgument()
        elif isinstance(param.type, (click.IntRange, click.FloatRange)):
            whole = "whole " if isinstance(param.type, click.IntRange) else ""
            param.type.name = f"{whole}number"  # click says "not a valid integer range"
            param.metavar = param.metavar or "N"
        elif isinstance(param, click.Option) and isinstance(param.type, click.Path):
            param.metavar = param.metavar or "FILE"
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        prepare(below)
    return command

"""Words on the command line: checked, and completed by the shell where they are ids.

The name of a file may be any bytes. Other words must be UTF-8, so that they can be stored and
printed; they are refused here if they are not.
"""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from holdfast.cli import completion
from holdfast.wire.log import is_utf8

Completer = Callable[[str], list[CompletionItem]]
COMPLETERS: dict[str, Completer] = {  # by the name of the parameter, the same in every command
    "session": completion.sessions,
    "sessions": completion.archived_sessions,
    "which": completion.checkpoints,
    "older": completion.checkpoints,
    "newer": completion.checkpoints,
    "segment_id": completion.segments,
    "segment_ids": completion.segments,
}


METAVARS = {
    "project": "DIR",
    "plugin": "DIR",
    "plugin_folder": "DIR",
    "session": "ID",
    "agent": "ID",
}


class TextArgument(click.ParamType[str]):
    name = "text"

    def __init__(self, completer: Completer | None = None) -> None:
        self.completer = completer

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if not is_utf8(str(value)):
            shown = ascii(str(value)[:80])
            self.fail(f"{shown} is not UTF-8; use a terminal that is", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self.completer(incomplete) if self.completer else []


class IdOrFile(click.Path):
    """An id that the completer knows, or the path of a file."""

    def __init__(self, completer: Completer) -> None:
        super().__init__()
        self.completer = completer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self.completer(incomplete) or super().shell_complete(ctx, param, incomplete)


def _metavar(option: click.Option) -> str | None:
    """What stands for the option's value in the help: N, FILE, … where click says INTEGER RANGE."""
    if isinstance(option.type, (click.IntRange, click.FloatRange)) and not option.count:
        return "N"
    if isinstance(option.type, click.Path):
        return METAVARS.get(option.name or "", "DIR" if not option.type.file_okay else "FILE")
    return METAVARS.get(option.name or "")


def prepare(command: click.Command) -> click.Command:
    """The same command: its words must be UTF-8, and the shell completes its ids."""
    for param in command.params:
        completer = COMPLETERS.get(param.name or "")
        if param.type is click.STRING:
            param.type = TextArgument(completer)
        elif completer and isinstance(param.type, click.Path):
            param.type = IdOrFile(completer)
        if isinstance(param, click.Option) and param.metavar is None:
            param.metavar = _metavar(param)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        prepare(below)
    return command

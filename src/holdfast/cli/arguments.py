"""Words on the command line. A name of a file may be any bytes; words are UTF-8, or refused here,
at the border: what is kept, printed or asked for further inside can always be written down."""

from __future__ import annotations

import click

from holdfast.wire.inert import is_utf8


class Words(click.ParamType[str]):
    name = "text"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if not is_utf8(str(value)):
            shown = ascii(str(value)[:80])
            self.fail(f"{shown} is not UTF-8; say it in a terminal that is", param, ctx)
        return str(value)


def taken(command: click.Command) -> click.Command:
    """The same command, and its words are Words. One that may be a file is a `click.Path`."""
    for param in command.params:
        if param.type is click.STRING:
            param.type = Words()
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        taken(below)
    return command

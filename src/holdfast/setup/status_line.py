"""The user's own status line, which ours runs first and carries in its own command."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from holdfast.setup.settings_file import settings_in
from holdfast.setup.settings_text import their_status_command
from holdfast.setup.wiring import is_ours, wrapped_in


def command_to_wrap(
    without_us: dict[str, Any], below: Sequence[Path], packages: Collection[str]
) -> str | None:
    """What the status line would run without us: this file's own, else that of the files below."""
    for settings in (without_us, *map(settings_in, below)):
        command = their_status_command(settings)
        while is_ours(command, packages):  # never wrap ourselves: that would not end
            command = wrapped_in(command)
        if command is not None:
            return command if _is_an_argument(command) else None
    return None


def _is_an_argument(command: str) -> bool:
    """A NUL or half a surrogate pair cannot be handed to a program: such a line never ran."""
    try:
        return b"\0" not in command.encode()
    except UnicodeEncodeError:
        return False

"""Write one setting into the user's file; every other line stays as it is."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from holdfast.settings.load import user_file
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


class SettingNotWritten(HoldfastError):
    exit_code = 4

    def __init__(self, words: str, line: str) -> None:
        super().__init__(words)
        self.hint = f"put this line into {user_file()} yourself: {line}"


def write(name: str, word: str) -> Path:
    """The file that now says so; SettingNotWritten where it could not be made to."""
    path, line = user_file(), f'{name} = "{word}"'
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        made = _with_line(text, name, line)
        if tomllib.loads(made) != {**tomllib.loads(text), name: word}:
            raise SettingNotWritten(
                f"{path} was left as it is: {name} is written oddly there", line
            )
        os.makedirs(path.parent, 0o700, exist_ok=True)  # noqa: PTH103 (pathlib ignores the mode)
        places.replace_whole(str(path.resolve()), made.encode(), flush=True)
    except (OSError, ValueError) as slip:
        raise SettingNotWritten(f"{path} was not written: {slip}", line) from None
    return path


def _with_line(text: str, name: str, line: str) -> str:
    """In place of the line that is there, else before the first table, else at the end."""
    table = re.search(r"(?m)^[ \t]*\[", text)
    top, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    found, count = re.subn(rf"(?m)^[ \t]*{name}[ \t]*=[^\n]*$", line, top)
    if not count:
        found = f"{top}\n{line}\n" if top and not top.endswith("\n") else f"{top}{line}\n"
    return found + rest

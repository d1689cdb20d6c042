"""`@path` in an instruction file: what else the client reads because of it.

Seen with 2.1.325: up to four steps deep, each file once; not in code, fences or comments; a word
that begins with `@`, up to a blank (one behind a backslash is part of it), without its `#part`.
What lies outside the session's folder is read only for the user's own files, unless the user has
agreed to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from holdfast.wire import places

MOST_STEPS = 4
MOST_FILES = 100
MOST_BYTES = 256 << 10
_FENCES = ("```", "~~~")
# Compiled when needed: most files import nothing, and a hook reads them.
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)"


def read(path: str) -> str:
    return places.read_small(path, MOST_BYTES).decode("utf-8", "replace")


def named(text: str) -> list[str]:
    """The paths it imports, as written."""
    if "@" not in text:
        return []
    found = [one.replace("\\ ", " ").partition("#")[0] for one in re.findall(_IMPORT, _plain(text))]
    return [one for one in found if one]


def _plain(text: str) -> str:
    """Without comments, fenced blocks and code; read line by line, so that no text takes long."""
    told: list[str] = []
    fence = ""
    for line in _without_comments(text).split("\n"):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        else:
            told.append(_without_code(line))
    return "\n".join(told)


def _without_comments(text: str) -> str:
    parts = text.split("<!--")
    return " ".join([parts[0], *(part.partition("-->")[2] for part in parts[1:])])


def _without_code(line: str) -> str:
    """A lone backtick begins nothing."""
    parts = re.split("`+", line)
    outside = parts[0::2] if len(parts) % 2 else [*parts[0:-1:2], parts[-1]]
    return " ` ".join(outside)


def followed(path: str, text: str, within: str, home: str) -> Iterator[tuple[str, str]]:
    """(file, its text) of every import, in the order the client reads them; `within` bounds them to
    a folder, empty for no bound."""
    seen = {os.path.realpath(path)}
    yield from _steps(path, text, within, home, seen, 1)


def _steps(
    path: str, text: str, within: str, home: str, seen: set[str], step: int
) -> Iterator[tuple[str, str]]:
    for given in named(text) if step <= MOST_STEPS else ():
        real = os.path.realpath(_absolute(given, path, home))
        outside = within and not f"{real}/".startswith(f"{os.path.realpath(within)}/")
        if real in seen or outside or len(seen) > MOST_FILES or not os.path.isfile(real):  # noqa: PTH113
            continue
        seen.add(real)
        inner = read(real)
        yield real, inner
        yield from _steps(real, inner, within, home, seen, step + 1)


def _absolute(given: str, path: str, home: str) -> str:
    if given.startswith("~/"):
        return f"{home}/{given[2:]}"
    return os.path.join(os.path.dirname(path), given)  # noqa: PTH118, PTH120

"""The syntax of instruction files: `@path` imports, and `paths:` in the front matter of a rule.

Imports, as seen with 2.1.325: up to four levels deep, each file once; not in code, fences or
comments; a word that starts with `@`, up to a blank (unless a backslash precedes it), without its
`#part`. Files outside the session's folder are imported only by the user's own files, unless the
user allowed it.

`paths:` names the files that load the rule when they are read. Patterns work as in a `.gitignore`,
without regard to case; they are a list, one line with commas, or use braces. A rule with `**`
alone, an empty value or no `paths` is loaded at the start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from holdfast.wire import places

MAX_IMPORT_DEPTH = 4
MAX_FILES = 100
MAX_BYTES = 256 << 10
_FENCES = ("```", "~~~")
# Compiled when needed: most files import nothing, and a hook reads them.
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)"
FRONT_MATTER = "---"
MAX_HEAD_LINES = 60
MAX_PATTERNS = 40
MAX_PATTERN_PARTS = 40


def read(path: str) -> str:
    return places.read_small(path, MAX_BYTES).decode("utf-8", "replace")


def find_imports(text: str) -> list[str]:
    """The imported paths, as written."""
    if "@" not in text:
        return []
    found = [
        one.replace("\\ ", " ").partition("#")[0] for one in re.findall(_IMPORT, _strip_code(text))
    ]
    return [one for one in found if one]


def _strip_code(text: str) -> str:
    """The text without comments, fenced blocks and code. Line by line, so that it is never slow."""
    lines: list[str] = []
    fence = ""
    for line in _without_comments(text).split("\n"):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        else:
            lines.append(_without_code(line))
    return "\n".join(lines)


def _without_comments(text: str) -> str:
    parts = text.split("<!--")
    return " ".join([parts[0], *(part.partition("-->")[2] for part in parts[1:])])


def _without_code(line: str) -> str:
    """The line without `code`. A single backtick does not start any."""
    parts = re.split("`+", line)
    outside = parts[0::2] if len(parts) % 2 else [*parts[0:-1:2], parts[-1]]
    return " ` ".join(outside)


def follow_imports(path: str, text: str, within: str, home: str) -> Iterator[tuple[str, str]]:
    """(file, its text) of every import, in the order Claude Code reads them. `within` is the folder
    they must be in; empty for no limit."""
    seen = {os.path.realpath(path)}
    yield from _follow(path, text, within, home, seen, 1)


def _follow(
    path: str, text: str, within: str, home: str, seen: set[str], step: int
) -> Iterator[tuple[str, str]]:
    for given in find_imports(text) if step <= MAX_IMPORT_DEPTH else ():
        real = os.path.realpath(_resolve(given, path, home))
        outside = within and not f"{real}/".startswith(f"{os.path.realpath(within)}/")
        if real in seen or outside or len(seen) > MAX_FILES or not os.path.isfile(real):  # noqa: PTH113
            continue
        seen.add(real)
        inner = read(real)
        yield real, inner
        yield from _follow(real, inner, within, home, seen, step + 1)


def _resolve(given: str, path: str, home: str) -> str:
    if given.startswith("~/"):
        return f"{home}/{given[2:]}"
    return os.path.join(os.path.dirname(path), given)  # noqa: PTH118, PTH120


def parse_paths(text: str) -> tuple[str, ...]:
    """The patterns in `paths:`; empty for a rule that always applies."""
    lines = text.removeprefix("\ufeff").split("\n", MAX_HEAD_LINES)
    if lines[0].strip() != FRONT_MATTER:
        return ()
    found: list[str] = []
    inside = False
    for line in lines[1:]:
        if line.strip() == FRONT_MATTER:
            break
        key, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and not line.lstrip().startswith("-"):
            inside = key.strip() == "paths"
            found += _split_values(value) if inside else []
        elif inside and line.lstrip().startswith("-"):
            found += _split_values(line.lstrip()[1:])
    patterns = [brace for given in found for brace in _expand_braces(given)]
    return () if any(pattern == "**" for pattern in patterns) else tuple(patterns[:MAX_PATTERNS])


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether a pattern matches this path, which is relative to the rule's folder."""
    parts = path.lower().split("/")
    return any(_matches_pattern(pattern.lower(), parts) for pattern in patterns)


def _split_values(value: str) -> list[str]:
    """One value, or several separated by commas outside of braces."""
    text = value.strip().removeprefix("[").removesuffix("]")
    parts = re.findall(r"(?:[^,{]|\{[^}]*\}?)+", text)
    return [part.strip().strip("\"'") for part in parts if part.strip().strip("\"'")]


def _expand_braces(pattern: str) -> list[str]:
    """Expand `a.{x,y}` to `a.x` and `a.y`. Only one pair of braces: more are rare."""
    before, opening, rest = pattern.partition("{")
    inner, closing, after = rest.partition("}")
    if not opening or not closing:
        return [pattern]
    return [f"{before}{one.strip()}{after}" for one in inner.split(",")[:20]]


def _matches_pattern(pattern: str, parts: Sequence[str]) -> bool:
    """As in git: a pattern with a slash is relative to the folder, one without matches at any
    depth, and one that names a folder matches everything in it."""
    if pattern.startswith(("!", "./", "../")):
        return False
    wanted = pattern.strip("/").split("/")[:MAX_PATTERN_PARTS]
    if "/" not in pattern.rstrip("/"):
        wanted.insert(0, "**")
    return _matches_parts(wanted, parts)


def _matches_parts(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """Follow all positions in the pattern at once, part by part of the path. The time is at most
    the length of the pattern times that of the path, for any pattern."""
    from fnmatch import fnmatchcase  # only where there is such a rule

    at = _skip_stars({0}, wanted)
    for part in parts:
        if len(wanted) in at:
            return True  # a folder that is meant
        stay = {n for n in at if wanted[n] == "**"}
        go = {n + 1 for n in at if wanted[n] != "**" and fnmatchcase(part, wanted[n])}
        at = _skip_stars(stay | go, wanted)
    return len(wanted) in at


def _skip_stars(at: set[int], wanted: Sequence[str]) -> set[int]:
    found = set(at)
    for n in sorted(at):
        while n < len(wanted) and wanted[n] == "**":
            n += 1
            found.add(n)
    return found

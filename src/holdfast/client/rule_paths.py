"""`paths:` in the front matter of a rule: the files at whose reading the client loads it.

Seen with 2.1.325: patterns mean what they mean in a `.gitignore`, in any case of letters; a list,
one line with commas, or braces; `**` alone, an empty value and no `paths` load it at the start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FENCE = "---"
MOST_HEAD = 60
MOST_PATTERNS = 40
MOST_STEPS = 40


def scope(text: str) -> tuple[str, ...]:
    """The patterns a rule is bound to; empty for one that always holds."""
    lines = text.removeprefix("\ufeff").split("\n", MOST_HEAD)
    if lines[0].strip() != FENCE:
        return ()
    found: list[str] = []
    inside = False
    for line in lines[1:]:
        if line.strip() == FENCE:
            break
        key, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and not line.lstrip().startswith("-"):
            inside = key.strip() == "paths"
            found += _listed(value) if inside else []
        elif inside and line.lstrip().startswith("-"):
            found += _listed(line.lstrip()[1:])
    patterns = [one for given in found for one in _braces(given)]
    return () if any(one == "**" for one in patterns) else tuple(patterns[:MOST_PATTERNS])


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether one of them means this file, seen from the folder the rule belongs to."""
    parts = path.lower().split("/")
    return any(_means(one.lower(), parts) for one in patterns)


def _listed(value: str) -> list[str]:
    """One value, or several with commas between, outside of braces."""
    text = value.strip().removeprefix("[").removesuffix("]")
    parts = re.findall(r"(?:[^,{]|\{[^}]*\}?)+", text)
    return [part.strip().strip("\"'") for part in parts if part.strip().strip("\"'")]


def _braces(pattern: str) -> list[str]:
    """`a.{x,y}` as `a.x` and `a.y`; one pair, as the rest is rare."""
    before, opening, rest = pattern.partition("{")
    inner, closing, after = rest.partition("}")
    if not opening or not closing:
        return [pattern]
    return [f"{before}{one.strip()}{after}" for one in inner.split(",")[:20]]


def _means(pattern: str, parts: Sequence[str]) -> bool:
    """As git reads it: with a slash inside bound to the folder, without one anywhere in it; what
    names a folder means all that is in it."""
    if pattern.startswith(("!", "./", "../")):
        return False
    wanted = pattern.strip("/").split("/")[:MOST_STEPS]
    if "/" not in pattern.rstrip("/"):
        wanted.insert(0, "**")
    return _fits(wanted, parts)


def _fits(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """All places of the pattern a path may have come to, part by part: no pattern, however odd,
    takes longer than its length times the path's."""
    from fnmatch import fnmatchcase  # only where there is such a rule

    at = _past_stars({0}, wanted)
    for part in parts:
        if len(wanted) in at:
            return True  # a folder that is meant
        stay = {n for n in at if wanted[n] == "**"}
        go = {n + 1 for n in at if wanted[n] != "**" and fnmatchcase(part, wanted[n])}
        at = _past_stars(stay | go, wanted)
    return len(wanted) in at


def _past_stars(at: set[int], wanted: Sequence[str]) -> set[int]:
    found = set(at)
    for n in sorted(at):
        while n < len(wanted) and wanted[n] == "**":
            n += 1
            found.add(n)
    return found

"""The workflow state that an orchestrating tool keeps in the project: `conductor-state.json`.

The file belongs to that tool and has no fixed form: an object with names, numbers, and lists of
specs. It is quoted in short; nothing in it is interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.wire import places, scan

SECTION = "Workflow State"
PLACES = ("conductor-state.json", ".claude/conductor-state.json")
MOST_LINES, MOST_CHARS, MOST_DEPTH = 40, 300, 4


def read(project: str) -> tuple[str, dict[str, Any]]:
    """Return the file's path in the project and its content; both empty if there is none."""
    for place in PLACES:
        path = places.resolve_inside(project, place) if project else ""
        state = scan.parse_object(places.read_small(path)) if path else {}
        if state:
            return place, state
    return "", {}


def lines(state: Mapping[str, Any]) -> list[str]:
    """Return one line for the plain values, and one for each item of a list: specs are quoted as
    they are."""
    plain = [f"{key}: {_words(value)}" for key, value in state.items() if _is_plain(value)]
    found = [", ".join(plain)] if plain else []
    for key, value in state.items():
        if not _is_plain(value):
            found += [f"{key}: {words}" for words in _items(value) if words]
    return [_short(line) for line in found[:MOST_LINES]]


def _items(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from map(_words, value)
    elif isinstance(value, dict):
        yield from (f"{key}: {words}" for key, one in value.items() if (words := _words(one)))


def _words(value: Any, depth: int = MOST_DEPTH) -> str:
    if value is None or not depth:
        return ""
    if isinstance(value, dict):
        pairs = ((key, _words(one, depth - 1)) for key, one in value.items())
        return ", ".join(f"{key}: {words}" for key, words in pairs if words)
    if isinstance(value, list):
        return ", ".join(filter(None, (_words(one, depth - 1) for one in value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 2].rstrip() + " …"

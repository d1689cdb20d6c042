"""Hypothesis strategies: settings documents in any layout, and edits a user might make to them.

An edit is a function of the text alone, found by path, so that the same edit can be made to the
settings with us and to the settings without us.
"""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from holdfast.setup.json_text import JsonPath, children, find, read, remove
from holdfast.setup.wiring import ENTRY

Edit = Callable[[str], str]

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(-9, 9)
blanks = st.text(" \t\n\r", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4).filter(lambda key: key != "hooks"), inner, max_size=3)
    ),
    max_leaves=8,
)
events = st.sampled_from(["Stop", "PostToolUse", "PreToolUse", "SessionStart", "SessionEnd"])
groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=9)}), max_size=2)},
    optional={"matcher": st.text(max_size=5), "x": values},
)
status_lines = values | st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text(max_size=12)}, optional={"padding": scalars}
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A settings text: perhaps hooks, perhaps a status line, any keys, any layout."""
    settings = draw(st.dictionaries(st.text(max_size=5), values, max_size=4))
    settings.pop("hooks", None)
    if draw(st.booleans()):
        settings["hooks"] = draw(st.dictionaries(events, st.lists(groups, max_size=3), max_size=3))
    if draw(st.booleans()):
        settings["statusLine"] = draw(status_lines)
    shuffled = dict(draw(st.permutations(list(settings.items()))))
    if draw(st.booleans()):
        return scattered(shuffled, draw)
    indent: Any = draw(st.sampled_from([None, 1, 2, 4, "\t", ""]))
    text = json.dumps(shuffled, indent=indent, ensure_ascii=draw(st.booleans())) + draw(blanks)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def scattered(value: object, draw: st.DrawFn) -> str:
    """The value with blanks thrown in wherever JSON allows them."""

    def gap() -> str:
        return draw(blanks)

    def write(part: object) -> str:
        if isinstance(part, dict):
            inside = ",".join(
                f"{gap()}{json.dumps(key)}{gap()}:{gap()}{write(held)}{gap()}"
                for key, held in part.items()
            )
            return "{" + (inside or gap()) + "}"
        if isinstance(part, list):
            inside = ",".join(f"{gap()}{write(held)}{gap()}" for held in part)
            return "[" + (inside or gap()) + "]"
        return json.dumps(part)

    return gap() + write(value) + gap()


def paths_in(text: str) -> list[JsonPath]:
    """Every value that a user may edit: not the containers that we have a share in."""
    found: list[JsonPath] = []

    def walk(path: JsonPath) -> None:
        place = find(text, path)
        assert place is not None
        for child in {child.key: child for child in children(text, place)}.values():
            found.append((*path, child.key))
            walk((*path, child.key))

    walk(())
    return [path for path in found if not _is_shared(path)]


def _is_shared(path: JsonPath) -> bool:
    return (
        path[:1] == ("statusLine",)
        or path == ("hooks",)
        or (path[:1], len(path)) == (("hooks",), 2)
    )


@st.composite
def edits(draw: st.DrawFn, text: str, number: int) -> Edit:
    """One edit that makes sense in `text` and in `text` with our share in it."""
    paths = paths_in(text)
    if not paths:
        return lambda held: held + " "
    path = draw(st.sampled_from(paths))
    new, blank = json.dumps(draw(values)), draw(blanks.filter(bool))
    member = f'"new {number}":{blank}{new}' if isinstance(path[-1], str) else new
    kinds: list[Edit] = [
        lambda held: _spliced(held, path, "value_start", "end", new),
        lambda held: remove(held, _among_theirs(held, path)),
        lambda held: _spliced(held, path, "start", "start", f"{member},{blank}"),
        lambda held: _spliced(held, path, "end", "end", f"{blank},{member}"),
        lambda held: _spliced(held, path, "start", "start", blank),
        lambda held: _spliced(held, path, "end", "end", blank),
        lambda held: _append(held, path[:-1], f",{blank}{member}"),
        lambda held: blank + held + blank,
    ]
    return draw(st.sampled_from(kinds))


def _spliced(text: str, path: JsonPath, start: str, end: str, new: str) -> str:
    place = find(text, _among_theirs(text, path))
    assert place is not None
    return text[: getattr(place, start)] + new + text[getattr(place, end) :]


def _append(text: str, path: JsonPath, new: str) -> str:
    place = find(text, _among_theirs(text, path))
    assert place is not None
    return text[: place.end - 1] + new + text[place.end - 1 :]


def _among_theirs(text: str, path: JsonPath) -> JsonPath:
    """The same path where one of our groups stands among theirs and shifts their numbers."""
    if len(path) < 3 or path[0] != "hooks" or not isinstance(path[2], int):
        return path
    groups = read(text)["hooks"][path[1]]
    theirs = [at for at, group in enumerate(groups) if ENTRY not in json.dumps(group)]
    return (*path[:2], theirs[path[2]], *path[3:])

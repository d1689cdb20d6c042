"""Where the client keeps what it remembers of a project, and whether it looks there.

Seen with 2.1.325: the folder belongs to the repository (all worktrees and subfolders share one, and
links are followed), without one to the folder itself; `autoMemoryDirectory` of any settings file
wins where it is absolute or begins with `~/`; the variable wins over `autoMemoryEnabled`.

We write there, so a settings file of the project may name only a folder inside of the project: it
comes with the repository, and could have us write into any folder of the user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.client import limit_settings
from holdfast.wire import places

OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
MOST_BYTES = 4096
_TRUE, _FALSE = frozenset(("1", "true", "yes", "on")), frozenset(("0", "false", "no", "off"))


class MemoryFolder(NamedTuple):
    path: str
    is_read: bool  # whether the client puts its index into a session
    why: str  # what says so


def memory_folder(project: str, environ: Mapping[str, str] | None = None) -> MemoryFolder:
    """The folder of this project's memory, as the client would choose it."""
    environ = os.environ if environ is None else environ
    path, origin = f"{config(environ)}/projects/{slug(root_of(project))}/memory", "the usual place"
    said, is_on, refused = environ.get(OFF, ""), True, ""
    for file, settings in limit_settings.settings_by_file(project, environ):
        given = settings.get("autoMemoryDirectory")
        if isinstance(given, str) and (chosen := _absolute(given, environ)):
            if _may_name(file, chosen, project, environ):
                path, origin, refused = chosen, "autoMemoryDirectory", ""
            else:
                refused = f"autoMemoryDirectory of {file} is ignored: it lies outside the project"
        if isinstance(settings.get("autoMemoryEnabled"), bool):
            is_on = bool(settings["autoMemoryEnabled"])
        block = settings.get("env")
        if isinstance(block, dict) and isinstance(block.get(OFF), str):
            said = said or block[OFF]
    word = said.strip().lower()
    if word in _TRUE:
        return MemoryFolder(path, False, f"{OFF} is set")
    if not is_on and word not in _FALSE:
        return MemoryFolder(path, False, "autoMemoryEnabled is false")
    return MemoryFolder(path, not refused, refused or origin)


def _may_name(file: str, folder: str, project: str, environ: Mapping[str, str]) -> bool:
    """Whether this settings file may name this folder."""
    own = not project or not file.startswith(f"{project}/.claude/")
    if own or file == f"{config(environ)}/settings.json":
        return True
    return os.path.realpath(folder).startswith(root_of(project).rstrip("/") + "/")


def config(environ: Mapping[str, str]) -> str:
    """The client's own folder."""
    return environ.get("CLAUDE_CONFIG_DIR") or f"{environ.get('HOME', '')}/.claude"


def slug(path: str) -> str:
    """How the client names a folder after a path."""
    return "".join(mark if mark.isascii() and mark.isalnum() else "-" for mark in path)


def root_of(folder: str) -> str:
    """The repository this folder belongs to, its first worktree; the folder itself without one."""
    here = os.path.realpath(folder)
    place = here
    while True:
        mark = f"{place.rstrip('/')}/.git"
        if os.path.isdir(mark):  # noqa: PTH112
            return place
        if os.path.isfile(mark):  # noqa: PTH113
            return _first_worktree(place, mark)
        above = os.path.dirname(place)  # noqa: PTH120
        if above == place:
            return here
        place = above


def _first_worktree(place: str, mark: str) -> str:
    """`.git` as a file names a folder of the repository; that one says where they all meet."""
    named = _line(mark).removeprefix("gitdir:").strip()
    inner = os.path.join(place, named)  # noqa: PTH118
    shared = _line(f"{inner}/commondir")
    if not named or not shared:
        return place
    found = os.path.realpath(os.path.join(inner, shared))  # noqa: PTH118
    return os.path.dirname(found) if found.endswith("/.git") else place  # noqa: PTH120


def _line(path: str) -> str:
    return places.read_small(path, MOST_BYTES).decode("utf-8", "replace").partition("\n")[0]


def _absolute(given: str, environ: Mapping[str, str]) -> str:
    if given.startswith("~/"):
        given = f"{environ.get('HOME', '')}/{given[2:]}"
    return given.rstrip("/") if given.startswith("/") and "\0" not in given else ""

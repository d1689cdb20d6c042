"""The folder where Claude Code stores its memory of a project, and whether it reads it.

Seen with 2.1.325: the folder belongs to the repository (worktrees and subfolders share one, links
are followed), else to the folder itself. `autoMemoryDirectory` of any settings file wins if it is
absolute or starts with `~/`. The variable wins over `autoMemoryEnabled`. We write there, so a
settings file that comes with a repository may name only a folder inside the project.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.client import claude_folder
from holdfast.client.claude_folder import config_folder
from holdfast.wire import places

OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
MAX_BYTES = 4096
_TRUE, _FALSE = frozenset(("1", "true", "yes", "on")), frozenset(("0", "false", "no", "off"))


class MemoryFolder(NamedTuple):
    path: str
    is_read: bool  # whether Claude Code loads its index into a session
    why: str  # the setting behind it


def find_memory_folder(project: str, environ: Mapping[str, str] | None = None) -> MemoryFolder:
    """The folder that Claude Code would choose for this project."""
    environ = os.environ if environ is None else environ
    path, origin = (
        f"{config_folder(environ)}/projects/{slug(find_root(project))}/memory",
        "the usual place",
    )
    switch, is_on, refused = environ.get(OFF, ""), True, ""
    for file, settings in claude_folder.read_by_file(project, environ):
        given = settings.get("autoMemoryDirectory")
        if isinstance(given, str) and (chosen := _resolve(given, environ)):
            if _may_name(file, chosen, project, environ):
                path, origin, refused = chosen, "autoMemoryDirectory", ""
            else:
                refused = f"autoMemoryDirectory of {file} is ignored: it lies outside the project"
        if isinstance(settings.get("autoMemoryEnabled"), bool):
            is_on = bool(settings["autoMemoryEnabled"])
        block = settings.get("env")
        if isinstance(block, dict) and isinstance(block.get(OFF), str):
            switch = switch or block[OFF]
    word = switch.strip().lower()
    if word in _TRUE:
        return MemoryFolder(path, False, f"{OFF} is set")
    if not is_on and word not in _FALSE:
        return MemoryFolder(path, False, "autoMemoryEnabled is false")
    return MemoryFolder(path, not refused, refused or origin)


def _may_name(file: str, folder: str, project: str, environ: Mapping[str, str]) -> bool:
    """Whether this settings file may name this folder."""
    own = not project or not file.startswith(f"{project}/.claude/")
    if own or file == f"{config_folder(environ)}/settings.json":
        return True
    return os.path.realpath(folder).startswith(find_root(project).rstrip("/") + "/")


def slug(path: str) -> str:
    """The folder name that Claude Code makes from a path."""
    return "".join(mark if mark.isascii() and mark.isalnum() else "-" for mark in path)


def find_root(folder: str) -> str:
    """The first worktree of the repository around a folder; the folder itself if there is none."""
    here = os.path.realpath(folder)
    place = here
    while True:
        mark = f"{place.rstrip('/')}/.git"
        if os.path.isdir(mark):
            return place
        if os.path.isfile(mark):
            return _first_worktree(place, mark)
        above = os.path.dirname(place)
        if above == place:
            return here
        place = above


def _first_worktree(place: str, mark: str) -> str:
    """Follow a `.git` file to the repository's folder, and from there to its first worktree."""
    named = _read_line(mark).removeprefix("gitdir:").strip()
    inner = os.path.join(place, named)
    shared = _read_line(f"{inner}/commondir")
    if not named or not shared:
        return place
    found = os.path.realpath(os.path.join(inner, shared))
    return os.path.dirname(found) if found.endswith("/.git") else place


def _read_line(path: str) -> str:
    return places.read_small(path, MAX_BYTES).decode("utf-8", "replace").partition("\n")[0]


def _resolve(given: str, environ: Mapping[str, str]) -> str:
    if given.startswith("~/"):
        given = f"{environ.get('HOME', '')}/{given[2:]}"
    return given.rstrip("/") if given.startswith("/") and "\0" not in given else ""

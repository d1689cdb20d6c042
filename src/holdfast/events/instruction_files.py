"""Every instruction file of a session: is it loaded again by itself, or must a brief repeat it?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.client import instructions
from holdfast.client.instructions import InstructionFile, MarkedRule, find_forgotten, find_marked
from holdfast.events import window_brief
from holdfast.record import storage
from holdfast.window.state import State

BACK, PINNED, LATER, NEVER = "comes back", "pinned", "pinned once loaded", "excluded"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    path: str
    kind: str
    after: str  # what becomes of it after a compaction: one of the words above
    when: str  # what loads it, where it is not the start
    imported_by: str
    marked: tuple[MarkedRule, ...]


def list_files(
    project: str, state: State | None, folder: str, environ: Mapping[str, str] | None = None
) -> list[LoadedFile]:
    """The files in the order Claude Code loads them. `state` is the session whose reads count."""
    environ = os.environ if environ is None else environ
    excludes = instructions.read_excludes(project, environ)
    found: dict[str, LoadedFile] = {}
    for source, after in _sources(project, state, folder, environ):
        if instructions.is_excluded(source.path, excludes):
            after = NEVER
        marked = tuple(find_marked(source))
        one = LoadedFile(source.path, source.kind, after, source.when, source.by, marked)
        found.setdefault(os.path.realpath(source.path), one)
    return list(found.values())


def _sources(
    project: str, state: State | None, folder: str, environ: Mapping[str, str]
) -> Iterator[tuple[InstructionFile, str]]:
    read = window_brief.read_files(storage.read_on(state, folder)) if state else []
    for source in instructions.find_loaded_at_start(project, environ):
        yield source, BACK
    for source in find_forgotten(project, read, environ):
        yield source, PINNED
    for source in instructions.find_scoped_rules(project, environ):
        yield source, LATER
    for source in instructions.find_below(project, environ):
        yield source, LATER

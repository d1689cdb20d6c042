"""Every instruction file of a session: does it come back by itself, or must a brief tell it?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.client import instructions
from holdfast.client.instructions import InstructionFile, MarkedRule, find_forgotten, find_marked
from holdfast.events import take_checkpoint, window_brief
from holdfast.window.state import State

BACK, PINNED, LATER, NEVER = "comes back", "pinned", "pinned once loaded", "excluded"


@dataclass(frozen=True, slots=True)
class File:
    path: str
    kind: str
    after: str  # what becomes of it after a compaction: one of the words above
    when: str  # what loads it, where it is not the start
    imported_by: str
    marked: tuple[MarkedRule, ...]


def files(
    project: str, state: State | None, folder: str, environ: Mapping[str, str] | None = None
) -> list[File]:
    """In the order the client loads them; `state` of the session whose reading counts, if any."""
    environ = os.environ if environ is None else environ
    passed_by = instructions.read_excludes(project, environ)
    found: dict[str, File] = {}
    for source, after in _sources(project, state, folder, environ):
        if instructions.is_excluded(source.path, passed_by):
            after = NEVER
        marked = tuple(find_marked(source))
        one = File(source.path, source.kind, after, source.when, source.by, marked)
        found.setdefault(os.path.realpath(source.path), one)
    return list(found.values())


def _sources(
    project: str, state: State | None, folder: str, environ: Mapping[str, str]
) -> Iterator[tuple[InstructionFile, str]]:
    read = window_brief.read_files(take_checkpoint.facts_of(state, folder)) if state else []
    for source in instructions.find_loaded_at_start(project, environ):
        yield source, BACK
    for source in find_forgotten(project, read, environ):
        yield source, PINNED
    for source in instructions.find_scoped_rules(project, environ):
        yield source, LATER
    for source in instructions.find_below(project, environ):
        yield source, LATER

"""Rules marked (ENFORCED) or (CRITICAL) that the client does not bring back by itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from holdfast.client import instructions
from holdfast.client.instructions import Source

MARKS = ("(ENFORCED)", "(CRITICAL)")
MOST_RULES, MOST_CHARS = 12, 300


class Marked(NamedTuple):
    path: str
    line: int
    text: str


def marked_rules(
    project: str, files: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> list[str]:
    """Those a brief must tell, as far as it has room; `files` were read, the newest first."""
    if not project:
        return []
    environ = os.environ if environ is None else environ
    found = [one for source in forgotten(project, files, environ) for one in marked_in(source)]
    passed_by = instructions.excluded(project, environ) if found else []
    kept = [one for one in found if not instructions.is_excluded(one.path, passed_by)]
    return list(dict.fromkeys(one.text[:MOST_CHARS] for one in kept))[:MOST_RULES]


def forgotten(project: str, files: Iterable[str], environ: Mapping[str, str]) -> Iterator[Source]:
    """What held before a compaction, or should have, and is not there after it."""
    yield from instructions.unloaded(project, environ)
    yield from instructions.when_read(project, files, environ)


def marked_in(source: Source) -> list[Marked]:
    """The marked lines, without their list bullets."""
    if not any(mark in source.text for mark in MARKS):
        return []
    return [
        Marked(source.path, number, line.strip().lstrip("-*# "))
        for number, line in enumerate(source.text.splitlines(), start=1)
        if any(mark in line for mark in MARKS)
    ]

"""Segments another tool left in 004's own places: read where they lie, never written.

They are anyone's files: few are read, each small, and one that does not fit is passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.checkpoint import folders
from holdfast.segment import disk, formats
from holdfast.segment.errors import Damaged, NewerSegments
from holdfast.segment.formats import Compressed, Pending
from holdfast.wire import log, places

QUEUES = ".claude/data/context_queue"
WARM = "data/knowledge-db/compressed_context"
SESSIONS, ARCHIVED = ".claude/data/sessions", "archived_context"
MOST_FILES = 500
MOST_SESSIONS = 200


def warm(project: str) -> list[Compressed]:
    return [one for root in _roots(project) for one in _within(f"{root}/{WARM}")]


def cold(project: str) -> list[Compressed]:
    found: list[Compressed] = []
    for root in _roots(project):
        for session in sorted(folders.names_in(f"{root}/{SESSIONS}"))[:MOST_SESSIONS]:
            found += _within(f"{root}/{SESSIONS}/{session}/{ARCHIVED}")
    return found


def pending(session_id: str, project: str) -> list[Pending]:
    name = f"{places.plain(session_id)}_pending.json"
    found: list[Pending] = []
    for root in _roots(project):
        path = f"{root}/{QUEUES}/{name}"
        if data := disk.read(path):
            try:
                found += formats.queue(data).pending[:MOST_FILES]
            except (Damaged, NewerSegments) as slip:
                log.add("WARN", "segments", f"{path} was passed over: {slip}")
    return [one for one in found if formats.is_plain(one.segment_id)]


def _roots(project: str) -> list[str]:
    home = os.path.expanduser("~")  # noqa: PTH111
    return list(dict.fromkeys(root for root in (project, home) if root.startswith("/")))


def _within(folder: str) -> Iterator[Compressed]:
    names = [name for name in folders.names_in(folder) if name.endswith(".json")]
    for name in sorted(names)[:MOST_FILES]:
        path = f"{folder}/{name}"
        try:
            found = formats.compressed(disk.read(path), name.removesuffix(".json"))
        except (Damaged, NewerSegments) as slip:
            log.add("WARN", "segments", f"{path} was passed over: {slip}")
            continue
        yield found

"""Segments another tool of this format left in its own places: read there, never written.

They are anyone's files: few are read, each small, and one that does not fit is passed over. Secrets
are taken out of all they say, and no transcript is followed but one of the project they lie in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import config_folder
from holdfast.files import folders
from holdfast.redact import are_clean, redact
from holdfast.segment import disk, formats
from holdfast.segment.errors import Damaged, NewerSegments
from holdfast.segment.formats import Compressed, Pending
from holdfast.wire import log, places

QUEUES = ".claude/data/context_queue"
WARM = "data/knowledge-db/compressed_context"
SESSIONS, ARCHIVED = ".claude/data/sessions", "archived_context"
MOST_FILES = 500
MOST_SESSIONS = 200
Kind = TypeVar("Kind", Pending, Compressed)


def warm(project: str) -> list[Compressed]:
    return [one for root in _roots(project) for one in _within(root, WARM, project)]


def cold(project: str) -> list[Compressed]:
    found: list[Compressed] = []
    for root in _roots(project):
        listed = folders.names_in(places.contained(root, SESSIONS))
        for session in sorted(listed)[:MOST_SESSIONS]:
            found += _within(root, f"{SESSIONS}/{session}/{ARCHIVED}", project)
    return found


def pending(session_id: str, project: str) -> list[Pending]:
    name = f"{places.plain(session_id)}_pending.json"
    found: list[Pending] = []
    for root in _roots(project):
        path = places.contained(root, f"{QUEUES}/{name}")
        if path and (data := disk.read(path)):
            try:
                found += formats.queue(data).pending[:MOST_FILES]
            except (Damaged, NewerSegments) as slip:
                log.add("WARN", "segments", f"{path} was passed over: {slip}")
    return [_clean(one) for one in found if _is_public(one.segment_id)]


def _roots(project: str) -> list[str]:
    home = os.path.expanduser("~")  # noqa: PTH111
    return list(dict.fromkeys(root for root in (project, home) if root.startswith("/")))


def _within(root: str, inside: str, project: str) -> Iterator[Compressed]:
    """A link that leads out of the root is not followed: it could bring in another project's."""
    folder = places.contained(root, inside)
    names = [name for name in folders.names_in(folder) if name.endswith(".json")]
    names = [name for name in names if _is_public(name.removesuffix(".json"))]
    for name in sorted(names)[:MOST_FILES]:
        path = places.contained(root, f"{inside}/{name}")
        if not path:
            continue
        try:
            found = formats.compressed(disk.read(path), name.removesuffix(".json"))
        except (Damaged, NewerSegments) as slip:
            log.add("WARN", "segments", f"{path} was passed over: {slip}")
            continue
        found = _clean(found)
        if not _is_of(project, found.metadata.transcript):
            found.metadata.transcript = ""
        yield found


def _is_public(segment_id: str) -> bool:
    """An id is looked up by: a secret cannot be taken out of it."""
    return formats.is_plain(segment_id) and are_clean((segment_id,))


def _is_of(project: str, transcript: str) -> bool:
    """In the client's own folder for the project."""
    folder = f"{config_folder(os.environ)}/projects/{slug(project)}/"
    return bool(project) and transcript.startswith(folder) and ".." not in transcript.split("/")


def _clean(one: Kind) -> Kind:
    told = formats.plain(one)
    cleaned = _without(told)
    return one if cleaned == told else msgspec.convert(cleaned, type(one))


def _without(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_without(inner) for inner in value]
    return {k: _without(v) for k, v in value.items()} if isinstance(value, dict) else value

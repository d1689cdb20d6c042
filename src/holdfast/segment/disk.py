"""Segments on disk: Holdfast's folder with one writer at a time and atomic writes, the queue of
each session, and other tools' files.

Another tool of this format may have left segments in its own folders. They are read there, never
written. Their author is unknown: few are read, each small, and an invalid one is skipped. They are
redacted, and a transcript they name is read only if it belongs to their project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeVar

import msgspec

from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import config_folder
from holdfast.files import folders, lock, small_files
from holdfast.files.small_files import NewerFile, NotStored, StoreBusy
from holdfast.redact import are_clean, redact_each
from holdfast.segment import formats
from holdfast.segment.errors import DamagedSegment
from holdfast.segment.formats import Compressed, Done, Pending, Queue
from holdfast.wire import log, places

MOST_BYTES = 1 << 20
ENDING = ".json"
SESSION_SECONDS = 0.5  # to wait for another process that compresses the same session
QUEUES = ".claude/data/context_queue"
WARM = "data/knowledge-db/compressed_context"
SESSIONS, ARCHIVED = ".claude/data/sessions", "archived_context"
MOST_FILES = 500
MOST_SESSIONS = 200
Kind = TypeVar("Kind", Pending, Compressed)


def folder(*below: str) -> str:
    return "/".join((places.home(), "segments", *below))


@contextmanager
def hold_segments() -> Iterator[None]:
    """Hold the lock of all segments; StoreBusy if it was not free in time."""
    with small_files.hold(folder("lock"), lock.PATIENCE_SECONDS) as ours:
        if not ours:
            raise StoreBusy("another session or command is writing segments")
        yield


def hold_session(session_id: str) -> AbstractContextManager[bool]:
    """Hold the lock of one session; False if another process compresses it."""
    path = folder("queue", f"{places.plain(session_id or 'unknown')}.lock")
    return small_files.hold(path, SESSION_SECONDS)


def read(path: str) -> bytes:
    """Read a small file; empty if it is missing. One that is too long counts as damaged."""
    data = places.read_small(path, MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else b"?"  # cannot be decoded


def foreign_warm(project: str) -> list[Compressed]:
    return [one for root in _roots(project) for one in _within(root, WARM, project)]


def foreign_cold(project: str) -> list[Compressed]:
    compresseds: list[Compressed] = []
    for root in _roots(project):
        listed = folders.names_in(places.resolve_inside(root, SESSIONS))
        for session in sorted(listed)[:MOST_SESSIONS]:
            compresseds += _within(root, f"{SESSIONS}/{session}/{ARCHIVED}", project)
    return compresseds


def foreign_pending(session_id: str, project: str) -> list[Pending]:
    name = f"{places.plain(session_id)}_pending.json"
    pendings: list[Pending] = []
    for root in _roots(project):
        path = places.resolve_inside(root, f"{QUEUES}/{name}")
        if path and (data := read(path)):
            try:
                pendings += formats.queue(data).pending[:MOST_FILES]
            except (DamagedSegment, NewerFile) as error:
                log.add("WARN", "segments", f"{path} was passed over: {error}")
    pendings = [_clean(pending) for pending in pendings if _is_public(pending.segment_id)]
    return [msgspec.structs.replace(pending, written_by=formats.FOREIGN) for pending in pendings]


def _roots(project: str) -> list[str]:
    return list(dict.fromkeys(root for root in (project, places.user_home()) if root[:1] == "/"))


def _within(root: str, inside: str, project: str) -> Iterator[Compressed]:
    """Files below a root. Links out of it are not followed: they could lead to another project."""
    folder = places.resolve_inside(root, inside)
    names = [name for name in folders.names_in(folder) if name.endswith(".json")]
    names = [name for name in names if _is_public(name.removesuffix(".json"))]
    for name in sorted(names)[:MOST_FILES]:
        path = places.resolve_inside(root, f"{inside}/{name}")
        if not path:
            continue
        try:
            found = formats.decode_compressed(read(path), name.removesuffix(".json"))
        except (DamagedSegment, NewerFile) as error:
            log.add("WARN", "segments", f"{path} was passed over: {error}")
            continue
        found = _clean(found)
        found.metadata.written_by = formats.FOREIGN
        if not _is_of(project, found.metadata.transcript):
            found.metadata.transcript = ""
        yield found


def _is_public(segment_id: str) -> bool:
    """Whether an id is safe: ids are looked up, so they cannot be redacted."""
    return formats.is_plain(segment_id) and are_clean((segment_id,))


def _is_of(project: str, transcript: str) -> bool:
    """Return whether a transcript is in the client's folder for the project."""
    folder = f"{config_folder(os.environ)}/projects/{slug(project)}/"
    return bool(project) and transcript.startswith(folder) and ".." not in transcript.split("/")


def _clean(one: Kind) -> Kind:
    plain = formats.plain(one)
    cleaned = redact_each(plain)
    return one if cleaned == plain else msgspec.convert(cleaned, type(one))


MOST_PENDING, MOST_DONE = 200, 500
LONGEST_TOPIC = 160


def queue_path(session_id: str) -> str:
    return folder("queue", f"{places.plain(session_id)}_pending.json")


def load_queue(session_id: str) -> Queue:
    """The queue; empty if there is none. NewerFile if a newer Holdfast wrote it."""
    data = read(queue_path(session_id))
    if not data:
        return Queue()
    try:
        return formats.queue(data)
    except DamagedSegment as error:
        with suppress(NotStored):
            small_files.set_aside(queue_path(session_id), str(error))
        return Queue()


def list_archived(session_id: str) -> list[tuple[str, str, list[str]]]:
    """Return id, topic and main files of what a session has archived, newest last; nothing if the
    queue is unreadable."""
    try:
        queue = load_queue(session_id)
    except NewerFile:
        return []
    rows = [row for row in queue.compressed if row.topic and queue.version == formats.VERSION]
    files = [[name.rpartition("/")[2] for name in row.key_files[:2]] for row in rows]
    told = zip(rows, files, strict=True)
    return [(row.segment_id, row.topic[:LONGEST_TOPIC], names) for row, names in told]


def save_queue(session_id: str, queue: Queue) -> None:
    """Save it. Past the limit the oldest compressed entry is dropped; its segment stays stored."""
    del queue.pending[:-MOST_PENDING]
    del queue.compressed[:-MOST_DONE]
    small_files.put(queue_path(session_id), formats.encode(queue))


def settle_queue(queue: Queue, done: Done) -> None:
    """Move an entry from pending to compressed, once."""
    queue.pending = [one for one in queue.pending if one.segment_id != done.segment_id]
    queue.compressed = [one for one in queue.compressed if one.segment_id != done.segment_id]
    queue.compressed.append(done)


def done_entry(one: Compressed, turn: int, location: str = "") -> Done:
    """Make the queue's entry for a compressed segment."""
    return Done(
        segment_id=one.segment_id,
        topic=one.topic,
        compressed_at_turn=turn,
        original_tokens=one.original_tokens,
        compressed_tokens=one.compressed_tokens,
        compression_ratio=one.compression_ratio,
        storage_location=location or folder("warm", f"{one.segment_id}{ENDING}"),
        timestamp=one.compressed_at,
        key_files=one.key_files[:3],
        start_turn=one.start_turn,
    )


def update_queue_entry(one: Compressed, location: str) -> None:
    """Update the length of a segment's words in the queue, unless a newer Holdfast wrote it."""
    try:
        mine = load_queue(one.session_id)
    except NewerFile as error:
        log.add("WARN", "segments", f"{queue_path(one.session_id)}: {error}")
        return
    known = [row for row in mine.compressed if row.segment_id == one.segment_id]
    turn = known[-1].compressed_at_turn if known else mine.last_check_turn
    settle_queue(mine, done_entry(one, turn, location))
    save_queue(one.session_id, mine)
